//! Damaged data. These cases run only at places that can damage data.

use std::fmt::Debug;

use superstep_store::checkpoint::RecordKind::Finished;
use superstep_store::checkpoint::{CheckpointError, NamespaceQuery, StatusKind, StoredStatus, ThreadQuery};

use crate::case::Target;
use crate::expect::{Expect as _, error_chain, same};
use crate::shorthand::{key, record};
use crate::thread_contents::query;
use crate::writer::Writer;
use crate::{Broken, Damage};

const THREAD: &str = "damaged thread";

/// Writes a thread, damages it and reads it.
async fn check(target: Target<'_>, damage: Damage<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, THREAD);
    for n in 0..100 {
        writer.add(&format!("list+{n}")).await?;
    }
    if let Some(head) = writer.fence.head {
        writer.write_records(head, vec![], vec![record(key(0, Finished, ""), "x")]).await?;
    }
    drop((writer, store));
    if !target.damage(&damage).await {
        return Ok(());
    }
    let store = target.open().await?;
    expect_corrupt(damage, store.get(THREAD, "", None).await)?;
    expect_corrupt(damage, store.history(query(THREAD, "")).await)
}

/// Checks that a read of damaged data fails.
fn expect_corrupt<T: Debug>(damage: Damage<'_>, read: Result<T, CheckpointError>) -> Result<(), Broken> {
    let expected = format!("`CheckpointError::Corrupt` that names `{THREAD}`");
    let promise = format!("a read of damaged data is an error that names the damaged part: {damage:?}");
    match read {
        Err(CheckpointError::Corrupt(corrupt)) if &*corrupt.thread == THREAD => {
            let message = corrupt.to_string();
            match damage {
                Damage::Changes { field, .. } if !message.contains(field) => {
                    Err(Broken::new(promise, format!("an error that names the field `{field}`"), message))
                }
                _ => Ok(()),
            }
        }
        Ok(loaded) => Err(Broken::new(promise, expected, format!("success: {loaded:?}"))),
        Err(error) => Err(Broken::new(promise, expected, error_chain(&error))),
    }
}

pub(crate) async fn damaged_changes_are_an_error(target: Target<'_>) -> Result<(), Broken> {
    check(target, Damage::Changes { thread: THREAD, field: "list" }).await
}

pub(crate) async fn damaged_checkpoint_is_an_error(target: Target<'_>) -> Result<(), Broken> {
    check(target, Damage::Checkpoint { thread: THREAD }).await
}

pub(crate) async fn damaged_record_is_an_error(target: Target<'_>) -> Result<(), Broken> {
    check(target, Damage::Record { thread: THREAD }).await
}

pub(crate) async fn damaged_run_is_an_error(target: Target<'_>) -> Result<(), Broken> {
    check(target, Damage::Run { thread: THREAD }).await
}

pub(crate) async fn damaged_thread_hides_no_other_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut expected = Vec::new();
    for name in ["a", THREAD, "z"] {
        let mut writer = Writer::new(&store, name);
        writer.add("a=1").await?;
        let head = writer.add("a=2").await?;
        let kind = if name == THREAD { StatusKind::Running } else { StatusKind::Finished };
        let batch = writer.batch(Vec::new()).status(StoredStatus::new(kind));
        writer.commit(batch).await.works("a batch may change the status")?;
        expected.push((name.to_owned(), (name != THREAD).then_some(head)));
    }
    drop(store);
    if !target.damage(&Damage::OneThread { thread: THREAD }).await {
        return Ok(());
    }
    let store = target.open().await?;
    let mut found = Vec::new();
    let page = store.threads(ThreadQuery::default()).await;
    for record in page.works("threads can be listed although one is damaged")?.items {
        if let Err(corrupt) = &record.head {
            same("the error of a listed thread names the thread", &record.thread, &corrupt.thread)?;
        }
        found.push((record.thread.to_string(), record.head.ok().flatten().map(|head| head.id)));
    }
    same("a damaged thread is listed as damaged, and all others are listed", expected, found)?;
    let page = store.namespaces(NamespaceQuery::new(THREAD)).await;
    let heads: Vec<_> = page
        .works("namespaces can be listed although one is damaged")?
        .items
        .iter()
        .map(|item| item.head.is_err())
        .collect();
    same("a damaged namespace is listed as damaged", vec![true], heads)?;
    let page = store.threads(ThreadQuery::new().unfinished(true)).await;
    let found = page.works("unfinished threads can be listed")?.items;
    let found: Vec<_> =
        found.iter().map(|record| (record.thread.to_string(), record.head.is_err())).collect();
    same("a damaged thread is listed by its status", vec![(THREAD.to_owned(), true)], found)
}
