//! What is spoilt is an error, never a guess. Only for places that know how to spoil something.

use superstep_store::store::{Condition, Get, Near, Search, Test};

use crate::Broken;
use crate::expect::same;
use crate::store::Damage;
use crate::store::case::Target;
use crate::store::fixture::{Fixture, Works, at, put, put_near};

async fn filled(target: Target<'_>) -> Result<Fixture, Broken> {
    let fixture = target.open().await?;
    for key in ["before", "spoilt", "behind"] {
        fixture.write(vec![put_near(&at(["n", "in"], key), "{\"f\":1}", "m", &[&[1.0, 0.0]])]).await?;
    }
    fixture.write(vec![put(&at("n", "other"), "1")]).await?;
    Ok(fixture)
}

pub(crate) async fn damaged_value_is_an_error_that_names_the_item(target: Target<'_>) -> Result<(), Broken> {
    drop(filled(target).await?);
    let spoilt = at(["n", "in"], "spoilt");
    if !target.damage(Damage::Value { namespace: &spoilt.namespace, key: &spoilt.key }).await {
        return Ok(());
    }
    let fixture = target.open().await?;
    let promise = "a spoilt value is an error that names it";
    let get = Get { now: fixture.now, keys: vec![at(["n", "in"], "before"), spoilt.clone()], refresh: false };
    fixture.store.get(get).await.corrupt_at(&spoilt, promise)?;
    fixture.store.search(fixture.within("n")).await.corrupt_at(&spoilt, promise)?;
    let condition = Condition::new("f", Test::Equal, &1).works("a number can be searched for")?;
    let filtered = Search { conditions: vec![condition], ..fixture.within("n") };
    fixture.store.search(filtered).await.corrupt_at(&spoilt, promise)?;
    same("others can be read", Some("1".to_owned()), fixture.read(&at("n", "other")).await?)?;
    same(
        "others can be read",
        Some("{\"f\":1}".to_owned()),
        fixture.read(&at(["n", "in"], "behind")).await?,
    )?;
    same("what is spoilt can be put again", true, fixture.put(&spoilt, "2").await?)?;
    same("and is whole then", Some("2".to_owned()), fixture.read(&spoilt).await?)
}

pub(crate) async fn damaged_embedding_is_an_error_that_names_the_item(
    target: Target<'_>,
) -> Result<(), Broken> {
    drop(filled(target).await?);
    let spoilt = at(["n", "in"], "spoilt");
    if !target.damage(Damage::Embedding { namespace: &spoilt.namespace, key: &spoilt.key }).await {
        return Ok(());
    }
    let fixture = target.open().await?;
    let near = Near::new("m", vec![1.0, 0.0]).works("a vector can be searched for")?;
    let search = Search { near: Some(near), ..fixture.within("n") };
    fixture
        .store
        .search(search.clone())
        .await
        .corrupt_at(&spoilt, "a spoilt embedding is an error that names it")?;
    same("its value can be read", Some("{\"f\":1}".to_owned()), fixture.read(&spoilt).await?)?;
    same("what is spoilt can be deleted", true, fixture.delete(&spoilt).await?)?;
    same("and is in nobody's way then", 2, fixture.keys(search).await?.len())
}
