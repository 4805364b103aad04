//! What is spoilt is an error, never a guess. Only for places that know how to spoil something.

use superstep_store::store::{Condition, Get, Near, Search, Test};

use crate::Broken;
use crate::expect::same;
use crate::store::Damage;
use crate::store::case::Here;
use crate::store::desk::{Desk, Works, at, put, put_near};

async fn filled(here: Here<'_>) -> Result<Desk, Broken> {
    let desk = here.open().await?;
    for key in ["before", "spoilt", "behind"] {
        desk.write(vec![put_near(&at(["n", "in"], key), "{\"f\":1}", "m", &[&[1.0, 0.0]])]).await?;
    }
    desk.write(vec![put(&at("n", "other"), "1")]).await?;
    Ok(desk)
}

pub(crate) async fn a_spoilt_value_is_an_error_that_names_it(here: Here<'_>) -> Result<(), Broken> {
    drop(filled(here).await?);
    let spoilt = at(["n", "in"], "spoilt");
    if !here.damage(Damage::Value { namespace: &spoilt.namespace, key: &spoilt.key }).await {
        return Ok(());
    }
    let desk = here.open().await?;
    let promise = "a spoilt value is an error that names it";
    let get = Get { now: desk.now, keys: vec![at(["n", "in"], "before"), spoilt.clone()], refresh: false };
    desk.store.get(get).await.corrupt_at(&spoilt, promise)?;
    desk.store.search(desk.within("n")).await.corrupt_at(&spoilt, promise)?;
    let condition = Condition::new("f", Test::Equal, &1).works("a number can be searched for")?;
    let filtered = Search { conditions: vec![condition], ..desk.within("n") };
    desk.store.search(filtered).await.corrupt_at(&spoilt, promise)?;
    same("others can be read", Some("1".to_owned()), desk.read(&at("n", "other")).await?)?;
    same("others can be read", Some("{\"f\":1}".to_owned()), desk.read(&at(["n", "in"], "behind")).await?)?;
    same("what is spoilt can be put again", true, desk.put(&spoilt, "2").await?)?;
    same("and is whole then", Some("2".to_owned()), desk.read(&spoilt).await?)
}

pub(crate) async fn a_spoilt_embedding_is_an_error_that_names_it(here: Here<'_>) -> Result<(), Broken> {
    drop(filled(here).await?);
    let spoilt = at(["n", "in"], "spoilt");
    if !here.damage(Damage::Embedding { namespace: &spoilt.namespace, key: &spoilt.key }).await {
        return Ok(());
    }
    let desk = here.open().await?;
    let near = Near::new("m", vec![1.0, 0.0]).works("a vector can be searched for")?;
    let search = Search { near: Some(near), ..desk.within("n") };
    desk.store
        .search(search.clone())
        .await
        .corrupt_at(&spoilt, "a spoilt embedding is an error that names it")?;
    same("its value can be read", Some("{\"f\":1}".to_owned()), desk.read(&spoilt).await?)?;
    same("what is spoilt can be deleted", true, desk.delete(&spoilt).await?)?;
    same("and is in nobody's way then", 2, desk.keys(search).await?.len())
}
