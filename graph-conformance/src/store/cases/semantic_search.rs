//! Semantic search.

use superstep_store::store::{Condition, Near, Order, Search, StoreError, Test};

use crate::Broken;
use crate::expect::{Expect as _, error_chain};
use crate::expect::{holds, same};
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put_near};

fn near(fixture: &Fixture, vector: &[f32]) -> Result<Search, Broken> {
    let near = Near::new("m", vector.to_vec()).works("a vector can be searched for")?;
    Ok(fixture.within("n").near(near))
}

async fn prepare(target: Target<'_>) -> Result<Fixture, Broken> {
    let fixture = target.open().await?;
    let items: [(&str, &[&[f32]]); 5] = [
        ("east", &[&[1.0, 0.0]]),
        ("north east", &[&[0.5, 0.5]]),
        ("north", &[&[0.0, 2.0]]),
        ("west", &[&[-1.0, 0.0]]),
        ("nowhere", &[&[0.0, 0.0]]),
    ];
    let writes = items
        .iter()
        .map(|(key, vectors)| put_near(&at("n", key), &format!("{{\"f\":\"{key}\"}}"), "m", vectors));
    fixture.write(writes.collect()).await?;
    Ok(fixture)
}

pub(crate) async fn nearest_items_come_first(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let page = fixture.search(near(&fixture, &[3.0, 0.0])?).await?;
    let expected =
        [("east", 1.0), ("north east", 0.5_f32.sqrt()), ("north", 0.0), ("nowhere", 0.0), ("west", -1.0)];
    for (found, (key, score)) in page.items.iter().zip(expected) {
        same("the nearest items come first", key, &*found.key)?;
        let close = found.score.is_some_and(|found| (found - score).abs() < 1e-6);
        holds(format!("the score is the cosine, of `{key}` {score}"), close, found.score)?;
    }
    same("all items are found", expected.len(), page.items.len())?;
    let plain = fixture.search(fixture.within("n")).await?;
    holds(
        "a search without a vector returns no scores",
        plain.items.iter().all(|found| found.score.is_none()),
        plain,
    )
}

pub(crate) async fn equally_near_items_are_in_the_requested_order(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    for (n, key) in ["b", "a", "c"].iter().enumerate() {
        fixture.later(n as u64).write(vec![put_near(&at("n", key), "1", "m", &[&[1.0, 1.0]])]).await?;
    }
    let search = near(&fixture, &[1.0, 1.0])?;
    same(
        "equally near items are ordered by name",
        ["a", "b", "c"].map(str::to_owned).to_vec(),
        fixture.keys(search.clone()).await?,
    )?;
    let newest = search.order(Order::Newest);
    same(
        "equally near items can be ordered newest first",
        ["c", "a", "b"].map(str::to_owned).to_vec(),
        fixture.keys(newest).await?,
    )
}

pub(crate) async fn nearest_vector_of_an_item_decides(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    fixture.write(vec![put_near(&at("n", "both"), "1", "m", &[&[-1.0, 0.0], &[1.0, 0.01]])]).await?;
    let found = fixture.keys((near(&fixture, &[1.0, 0.0])?).limit(2)).await?;
    same("the nearest vector of an item decides", vec!["east".to_owned(), "both".to_owned()], found)?;
    let found = fixture.keys((near(&fixture, &[-1.0, 0.0])?).limit(2)).await?;
    same("any vector of an item can be the nearest", vec!["both".to_owned(), "west".to_owned()], found)
}

pub(crate) async fn item_without_embedding_is_not_found(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    fixture.put(&at("n", "plain"), "1").await?;
    fixture.put(&at("n", "east"), "2").await?;
    let found = fixture.keys(near(&fixture, &[1.0, 0.0])?).await?;
    let expected = ["north east", "north", "nowhere", "west"].map(str::to_owned).to_vec();
    same("an item is found by its last embedding only", expected, found)?;
    fixture.delete(&at("n", "west")).await?;
    fixture.write(vec![put_near(&at("n", "north"), "1", "m", &[&[1.0, 0.0]])]).await?;
    let found = fixture.keys(near(&fixture, &[1.0, 0.0])?).await?;
    same(
        "an item is found by its last embedding only",
        ["north", "north east", "nowhere"].map(str::to_owned).to_vec(),
        found,
    )
}

pub(crate) async fn semantic_search_is_filtered_and_paged(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let not = Condition::new("f", Test::NotEqual, "north").works("a string can be searched for")?;
    let search = (near(&fixture, &[1.0, 0.0])?).conditions(vec![not]);
    let all = ["east", "north east", "nowhere", "west"];
    for (offset, limit) in [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (0, 4), (0, 9)] {
        let page = fixture.search(search.clone().offset(offset).limit(limit)).await?;
        let found: Vec<_> = page.items.iter().map(|found| &*found.key).collect();
        let expected: Vec<_> = all.into_iter().skip(offset).take(limit).collect();
        same(
            format!("a page of {limit} after {offset}"),
            (expected, offset + limit < all.len()),
            (found, page.more),
        )?;
    }
    Ok(())
}

pub(crate) async fn vectors_of_two_models_are_never_compared(target: Target<'_>) -> Result<(), Broken> {
    let fixture = prepare(target).await?;
    let others: [(&str, &[f32]); 2] = [("other", &[1.0, 0.0]), ("m", &[1.0, 0.0, 0.0])];
    for (model, vector) in others {
        let odd = at(["n", "in"], "odd");
        fixture.write(vec![put_near(&odd, "{\"f\":\"odd\"}", model, &[vector])]).await?;
        match fixture.store.search(near(&fixture, &[1.0, 0.0])?).await {
            Err(StoreError::OtherModel { namespace, key, .. }) => {
                same("the error names the item", (odd.namespace, odd.key), (namespace, key))?;
            }
            other => {
                let found = other.map_or_else(|error| error_chain(&error), |page| format!("{page:?}"));
                return Err(Broken::new(
                    "vectors of two models are never compared",
                    "`StoreError::OtherModel`",
                    found,
                ));
            }
        }
        let not = Condition::new("f", Test::NotEqual, "odd").works("a string can be searched for")?;
        let found = fixture.keys((near(&fixture, &[1.0, 0.0])?).conditions(vec![not])).await?;
        same("items that do not meet the filter are not compared", 5, found.len())?;
    }
    Ok(())
}
