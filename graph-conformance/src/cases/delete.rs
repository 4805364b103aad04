//! Deletion of threads.

use superstep_store::checkpoint::RecordKind::Step;
use superstep_store::checkpoint::{BatchWrite, Fence, Loaded, ThreadQuery};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, same};
use crate::shorthand::{key, record};
use crate::thread_contents::{ThreadContents, ids, query};
use crate::writer::{Writer, checkpoint_write};

pub(crate) async fn delete_removes_the_whole_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1 list+1").await?;
    writer.write_records(id, vec![], vec![record(key(0, Step, "s"), "x")]).await?;
    let mut inner = writer.in_namespace("child");
    inner.add("b=1").await?;
    let mut others = Vec::new();
    for name in ["t2", "T", "", "t%", "_"] {
        let mut other = Writer::new(&store, name);
        other.add("a=1").await?;
        others.push((name, ThreadContents::read(&*store, name, &[""]).await?));
    }
    same(
        "delete returns `true` for an existing thread",
        true,
        store.delete("t", None).await.works("a thread can be deleted")?,
    )?;
    for namespace in ["", "child"] {
        for checkpoint in [None, Some(id)] {
            let loaded =
                store.get("t", namespace, checkpoint).await.works("a missing thread is not an error")?;
            same("a deleted thread is not found", Loaded::default(), loaded)?;
        }
        same("a deleted thread has no checkpoints", 0, ids(&*store, query("t", namespace)).await?.len())?;
    }
    let threads = store.threads(ThreadQuery::new().prefix("t")).await;
    let names: Vec<_> =
        threads.works("threads can be listed")?.items.into_iter().map(|item| item.thread).collect();
    same("a deleted thread is not listed", vec!["t%".into(), "t2".into()], names)?;
    same(
        "delete returns `false` for a deleted thread",
        false,
        store.delete("t", None).await.works("deleting a deleted thread is not an error")?,
    )?;
    same(
        "delete returns `false` for a missing thread",
        false,
        store.delete("missing", None).await.works("deleting a missing thread is not an error")?,
    )?;
    for (name, before) in others {
        ThreadContents::read(&*store, name, &[""])
            .await?
            .expect_equal(&before, "other threads are unchanged")?;
    }
    Ok(())
}

pub(crate) async fn deleted_thread_can_be_created_again(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut old = Writer::new(&store, "t");
    old.raise_epoch().await?;
    let first = old.add("list+old secret=1").await?;
    old.write_records(first, vec![], vec![record(key(0, Step, "s"), "old")]).await?;
    store.delete("t", None).await.works("a thread can be deleted")?;
    let mut new = Writer::new(&store, "t");
    new.origin = "another origin".into();
    let mut draft = new.draft("list+new");
    // The id of a deleted checkpoint may be used again.
    draft.checkpoint.id = first;
    let id = new.add_draft(draft).await?;
    new.expect_fields(id, "list+new", "a new thread has no values of the deleted one").await?;
    same("a new thread has no records of the deleted one", 0, new.read(id).await?.records.len())?;
    let loaded = store.get("t", "", None).await.works("a thread can be read")?;
    same("a new thread starts with epoch 0", Fence::new(0, id), loaded.fence)?;
    same("a new thread has its own origin", Some("another origin"), loaded.origin.as_deref())
}

pub(crate) async fn delete_stops_the_writers_of_the_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut old = Writer::new(&store, "t");
    old.raise_epoch().await?;
    let id = old.add("a=1").await?;
    store.delete("t", None).await.works("a thread can be deleted")?;
    let seen = old.fence;
    let late = BatchWrite::records(id, vec![], vec![record(key(0, Step, "s"), "x")]);
    for writes in [vec![checkpoint_write(old.draft("a=2"))], vec![late.clone()], vec![]] {
        let result = store.commit(old.batch(writes)).await;
        result.conflicts("a writer of a deleted thread gets a conflict", seen, Fence::default())?;
    }
    let loaded = store.get("t", "", None).await.works("a missing thread is not an error")?;
    same("a refused writer creates no thread", Loaded::default(), loaded)?;

    // A new thread with the fence of the deleted one.
    let mut new = Writer::new(&store, "t");
    new.origin = "another".into();
    new.raise_epoch().await?;
    let mut draft = new.draft("a=new");
    draft.checkpoint.id = id;
    new.add_draft(draft).await?;
    same("the new thread has the fence of the old one", seen, new.fence)?;
    for writes in [vec![checkpoint_write(old.draft("a=2"))], vec![late], vec![]] {
        let result = store.commit(old.batch(writes)).await;
        result.conflicts(
            "a writer of the deleted thread gets a conflict because of its origin",
            seen,
            seen,
        )?;
    }
    new.expect_fields(id, "a=new", "refused writes are not stored").await
}

pub(crate) async fn delete_requires_the_named_epoch(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let batch = writer.batch(Vec::new()).epoch(u64::MAX);
    writer.commit(batch).await.works("an epoch may be large")?;
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    for epoch in [0, 1, u64::MAX - 1, u64::MAX >> 1] {
        let expected = Fence::new(epoch, writer.fence.head);
        let promise = "a thread of another epoch is not deleted";
        store.delete("t", Some(epoch)).await.conflicts(promise, expected, writer.fence)?;
    }
    let after = ThreadContents::read(&*store, "t", &[""]).await?;
    after.expect_equal(&before, "a refused deletion changes nothing")?;
    let deleted = store.delete("t", Some(u64::MAX)).await.works("a thread of the named epoch is deleted")?;
    same("the deletion returns `true`", true, deleted)?;
    let deleted = store.delete("t", Some(3)).await.works("a missing thread has no epoch to compare")?;
    same("a missing thread is not deleted", false, deleted)
}
