//! Searches by vectors.

use superstep_store::store::{Condition, Near, Order, Search, StoreError, Test};

use crate::Broken;
use crate::expect::told;
use crate::expect::{holds, same};
use crate::store::case::Here;
use crate::store::desk::{Desk, Works, at, put_near};

fn near(desk: &Desk, vector: &[f32]) -> Result<Search, Broken> {
    let near = Near::new("m", vector.to_vec()).works("a vector can be searched for")?;
    Ok(Search { near: Some(near), ..desk.within("n") })
}

async fn filled(here: Here<'_>) -> Result<Desk, Broken> {
    let desk = here.open().await?;
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
    desk.write(writes.collect()).await?;
    Ok(desk)
}

pub(crate) async fn the_nearest_come_first(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    let page = desk.search(near(&desk, &[3.0, 0.0])?).await?;
    let expected =
        [("east", 1.0), ("north east", 0.5_f32.sqrt()), ("north", 0.0), ("nowhere", 0.0), ("west", -1.0)];
    for (found, (key, score)) in page.items.iter().zip(expected) {
        same("the nearest come first", key, &*found.key)?;
        let close = found.score.is_some_and(|found| (found - score).abs() < 1e-6);
        holds(format!("the score is the cosine, of `{key}` {score}"), close, found.score)?;
    }
    same("all are found", expected.len(), page.items.len())?;
    let plain = desk.search(desk.within("n")).await?;
    holds(
        "a search without a vector gives no score",
        plain.items.iter().all(|found| found.score.is_none()),
        plain,
    )
}

pub(crate) async fn what_is_equally_near_is_in_the_order_asked_for(here: Here<'_>) -> Result<(), Broken> {
    let desk = here.open().await?;
    for (n, key) in ["b", "a", "c"].iter().enumerate() {
        desk.later(n as u64).write(vec![put_near(&at("n", key), "1", "m", &[&[1.0, 1.0]])]).await?;
    }
    let search = near(&desk, &[1.0, 1.0])?;
    same("by name", ["a", "b", "c"].map(str::to_owned).to_vec(), desk.keys(search.clone()).await?)?;
    let newest = Search { order: Order::Newest, ..search };
    same("or the newest first", ["c", "a", "b"].map(str::to_owned).to_vec(), desk.keys(newest).await?)
}

pub(crate) async fn the_nearest_vector_of_an_item_counts(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    desk.write(vec![put_near(&at("n", "both"), "1", "m", &[&[-1.0, 0.0], &[1.0, 0.01]])]).await?;
    let found = desk.keys(Search { limit: Some(2), ..near(&desk, &[1.0, 0.0])? }).await?;
    same("the nearest vector of an item counts", vec!["east".to_owned(), "both".to_owned()], found)?;
    let found = desk.keys(Search { limit: Some(2), ..near(&desk, &[-1.0, 0.0])? }).await?;
    same("whichever it is", vec!["both".to_owned(), "west".to_owned()], found)
}

pub(crate) async fn what_has_no_embedding_is_not_found_by_one(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    desk.put(&at("n", "plain"), "1").await?;
    desk.put(&at("n", "east"), "2").await?;
    let found = desk.keys(near(&desk, &[1.0, 0.0])?).await?;
    let expected = ["north east", "north", "nowhere", "west"].map(str::to_owned).to_vec();
    same("an item is found by what was put last", expected, found)?;
    desk.delete(&at("n", "west")).await?;
    desk.write(vec![put_near(&at("n", "north"), "1", "m", &[&[1.0, 0.0]])]).await?;
    let found = desk.keys(near(&desk, &[1.0, 0.0])?).await?;
    same(
        "an item is found by what was put last",
        ["north", "north east", "nowhere"].map(str::to_owned).to_vec(),
        found,
    )
}

pub(crate) async fn the_nearest_are_filtered_and_paged(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    let not = Condition::new("f", Test::NotEqual, "north").works("a text can be searched for")?;
    let search = Search { conditions: vec![not], ..near(&desk, &[1.0, 0.0])? };
    let all = ["east", "north east", "nowhere", "west"];
    for (offset, limit) in [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (0, 4), (0, 9)] {
        let page = desk.search(Search { offset, limit: Some(limit), ..search.clone() }).await?;
        let found: Vec<_> = page.items.iter().map(|found| &*found.key).collect();
        let expected: Vec<_> = all.into_iter().skip(offset).take(limit).collect();
        same(format!("{limit} behind {offset}"), (expected, offset + limit < all.len()), (found, page.more))?;
    }
    Ok(())
}

pub(crate) async fn vectors_of_two_models_are_never_compared(here: Here<'_>) -> Result<(), Broken> {
    let desk = filled(here).await?;
    let others: [(&str, &[f32]); 2] = [("other", &[1.0, 0.0]), ("m", &[1.0, 0.0, 0.0])];
    for (model, vector) in others {
        let odd = at(["n", "in"], "odd");
        desk.write(vec![put_near(&odd, "{\"f\":\"odd\"}", model, &[vector])]).await?;
        match desk.store.search(near(&desk, &[1.0, 0.0])?).await {
            Err(StoreError::OtherModel { namespace, key, .. }) => {
                same("the error names the item", (odd.namespace, odd.key), (namespace, key))?;
            }
            other => {
                let found = other.map_or_else(|error| told(&error), |page| format!("{page:?}"));
                return Err(Broken::new(
                    "vectors of two models are never compared",
                    "`StoreError::OtherModel`",
                    found,
                ));
            }
        }
        let not = Condition::new("f", Test::NotEqual, "odd").works("a text can be searched for")?;
        let found = desk.keys(Search { conditions: vec![not], ..near(&desk, &[1.0, 0.0])? }).await?;
        same("what a filter leaves out is not compared", 5, found.len())?;
    }
    Ok(())
}
