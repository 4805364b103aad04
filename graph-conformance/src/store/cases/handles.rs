//! Concurrent callers, several handles, and dropped calls.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use futures_util::future::{join, join_all};
use superstep_store::store::{ItemWrite, ItemWrites, Near};

use crate::Broken;
use crate::expect::{Expect as _, holds, same};
use crate::store::case::Target;
use crate::store::fixture::{Fixture, at, put, put_for, put_near, text};

pub(crate) async fn concurrent_writers_lose_nothing(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let write = async |writer: usize| {
        for n in 0..20 {
            fixture.put(&at(["w", &writer.to_string()], &n.to_string()), "1").await?;
            fixture.put(&at("shared", &n.to_string()), &writer.to_string()).await?;
        }
        Ok::<_, Broken>(())
    };
    for written in join_all((0..30).map(write)).await {
        written?;
    }
    same("concurrent writers lose nothing", 600, fixture.keys(fixture.within("w")).await?.len())?;
    same(
        "an item that all writers write exists once",
        20,
        fixture.keys(fixture.within("shared")).await?.len(),
    )
}

pub(crate) async fn batch_becomes_visible_as_a_whole(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let places = [at(["p", "1"], "a"), at(["p", "2"], "b"), at(["p", "3"], "c")];
    let batch = |n: usize| places.iter().map(|at| put(at, &n.to_string())).collect::<Vec<_>>();
    fixture.write(batch(0)).await?;
    let write = async {
        for n in 1..60 {
            fixture.write(batch(n)).await?;
        }
        Ok::<_, Broken>(())
    };
    let read = async {
        for _ in 0..60 {
            let found = fixture.search(fixture.within("p")).await?.items;
            let got = fixture.items(places.to_vec(), false).await?;
            let found: Vec<_> = found.iter().map(|found| text(&found.value)).collect();
            let got: Vec<_> = got.iter().flatten().map(|item| text(&item.value)).collect();
            for seen in [found, got] {
                let first = seen.first().cloned().unwrap_or_default();
                holds(
                    "a read sees one moment",
                    seen.len() == 3 && seen.iter().all(|value| *value == first),
                    &seen,
                )?;
            }
        }
        Ok::<_, Broken>(())
    };
    let (written, read) = join(write, read).await;
    written.and(read)
}

pub(crate) async fn two_handles_share_one_store(target: Target<'_>) -> Result<(), Broken> {
    let (one, other) = (target.open().await?, target.open().await?);
    for n in 0..20 {
        let at = at("n", &n.to_string());
        one.put(&at, "1").await?;
        same("a handle reads the writes of another handle", Some("1".to_owned()), other.read(&at).await?)?;
        same("a handle overwrites the items of another handle", true, other.put(&at, "2").await?)?;
        same("a handle reads the writes of another handle", Some("2".to_owned()), one.read(&at).await?)?;
    }
    drop(one);
    same("a handle works after the other one is closed", true, other.delete(&at("n", "3")).await?)?;
    same("all other items exist", 19, other.keys(other.within("n")).await?.len())
}

/// Polls a write `polls` times and drops it. Returns `true` if it was acknowledged.
async fn dropped_after(fixture: &Fixture, writes: Vec<ItemWrite>, polls: usize) -> bool {
    let mut call = fixture.store.write(ItemWrites::new(fixture.now, writes));
    for _ in 0..polls {
        if poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx))).await.is_ready() {
            return true;
        }
        let mut waited = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
    false
}

pub(crate) async fn dropped_write_is_all_or_nothing(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let (a, b) = (at("a", "k"), at(["b", "c"], "k"));
    for round in 0..40 {
        let value = round.to_string();
        let acknowledged = dropped_after(&fixture, vec![put(&a, &value), put(&b, &value)], round % 8).await;
        let seen = (fixture.read(&a).await?, fixture.read(&b).await?);
        same("a dropped write is all or nothing", &seen.0, &seen.1)?;
        if acknowledged {
            same("an acknowledged write is found", Some(&value), seen.0.as_ref())?;
        }
        fixture.put(&a, "\"after\"").await?;
        fixture.put(&b, "\"after\"").await?;
        let after = Some("\"after\"".to_owned());
        same(
            "a write that a later read does not see is never made",
            (after.clone(), after),
            (fixture.read(&a).await?, fixture.read(&b).await?),
        )?;
    }
    Ok(())
}

pub(crate) async fn writes_survive_a_reopen(target: Target<'_>) -> Result<(), Broken> {
    let fixture = target.open().await?;
    let at_ = |key: &str| at(["users", "\u{e9}\0"], key);
    fixture
        .write(vec![
            put(&at_("plain"), "{\"a\":1}"),
            put_for(&at_("short"), "1", 10),
            put_near(&at_("near"), "2", "m", &[&[1.0, -2.5e-9], &[0.0, 1.0]]),
        ])
        .await?;
    fixture.put(&at_("gone"), "1").await?;
    fixture.delete(&at_("gone")).await?;
    let before = fixture.search(fixture.within([""; 0])).await?;
    drop(fixture);
    let fixture = target.open().await?;
    same("all items are found after a reopen", before, fixture.search(fixture.within([""; 0])).await?)?;
    let near = Near::new("m", vec![1.0, -2.5e-9]).works("a vector can be searched for")?;
    let found = fixture.search(fixture.within("users").near(near)).await?;
    let scores: Vec<_> = found.items.iter().map(|found| (found.key.to_string(), found.score)).collect();
    same("embeddings survive a reopen unchanged", vec![("near".to_owned(), Some(1.0))], scores)?;
    let later = Fixture { now: fixture.now + Duration::from_secs(10), ..fixture };
    same("items still expire after a reopen", None, later.read(&at_("short")).await?)
}
