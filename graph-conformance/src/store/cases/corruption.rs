//! Damaged data. These cases run only at places that can damage data.

use superstep_store::store::{Condition, Get, Near, Test};

use crate::Broken;
use crate::expect::{Expect as _, same};
use crate::store::Damage;
use crate::store::case::Target;
use crate::store::fixture::{CorruptAt as _, Fixture, at, put, put_near};

async fn prepare(target: Target<'_>) -> Result<Fixture, Broken> {
    let fixture = target.open().await?;
    for key in ["before", "damaged", "after"] {
        fixture.write(vec![put_near(&at(["n", "in"], key), "{\"f\":1}", "m", &[&[1.0, 0.0]])]).await?;
    }
    fixture.write(vec![put(&at("n", "other"), "1")]).await?;
    Ok(fixture)
}

pub(crate) async fn damaged_value_is_an_error_that_names_the_item(target: Target<'_>) -> Result<(), Broken> {
    drop(prepare(target).await?);
    let damaged = at(["n", "in"], "damaged");
    if !target.damage(&Damage::Value { namespace: &damaged.namespace, key: &damaged.key }).await {
        return Ok(());
    }
    let fixture = target.open().await?;
    let promise = "a damaged value is an error that names the item";
    let get = Get::new(fixture.now, vec![at(["n", "in"], "before"), damaged.clone()]);
    fixture.store.get(get).await.corrupt_at(&damaged, promise)?;
    fixture.store.search(fixture.within("n")).await.corrupt_at(&damaged, promise)?;
    let condition = Condition::new("f", Test::Equal, &1).works("a number can be searched for")?;
    let filtered = fixture.within("n").conditions(vec![condition]);
    fixture.store.search(filtered).await.corrupt_at(&damaged, promise)?;
    same("other items can be read", Some("1".to_owned()), fixture.read(&at("n", "other")).await?)?;
    same(
        "other items can be read",
        Some("{\"f\":1}".to_owned()),
        fixture.read(&at(["n", "in"], "after")).await?,
    )?;
    same("a damaged item can be put again", true, fixture.put(&damaged, "2").await?)?;
    same("the new value can be read", Some("2".to_owned()), fixture.read(&damaged).await?)
}

pub(crate) async fn damaged_embedding_is_an_error_that_names_the_item(
    target: Target<'_>,
) -> Result<(), Broken> {
    drop(prepare(target).await?);
    let damaged = at(["n", "in"], "damaged");
    if !target.damage(&Damage::Embedding { namespace: &damaged.namespace, key: &damaged.key }).await {
        return Ok(());
    }
    let fixture = target.open().await?;
    let near = Near::new("m", vec![1.0, 0.0]).works("a vector can be searched for")?;
    let search = fixture.within("n").near(near);
    fixture
        .store
        .search(search.clone())
        .await
        .corrupt_at(&damaged, "a damaged embedding is an error that names the item")?;
    same("the value of the item can be read", Some("{\"f\":1}".to_owned()), fixture.read(&damaged).await?)?;
    same("a damaged item can be deleted", true, fixture.delete(&damaged).await?)?;
    same("a search works after the deletion", 2, fixture.keys(search).await?.len())
}
