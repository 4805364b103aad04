//! Copies of threads.

use superstep_store::checkpoint::RecordKind::{Finished, Step};
use superstep_store::checkpoint::{CheckpointError, Fence};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _, holds, same};
use crate::shorthand::{key, record};
use crate::thread_contents::ThreadContents;
use crate::writer::Writer;

const NAMESPACES: [&str; 3] = ["", "child:0", "child:0|x"];

/// Writes a thread with branches, records and nested namespaces.
async fn rich(writer: &mut Writer) -> Result<(), Broken> {
    writer.raise_epoch().await?;
    let root = writer.add("list+1 n=0").await?;
    for n in 0..70 {
        writer.add(&format!("list+{n}")).await?;
    }
    writer.fork(Some(root), "list+fork").await?;
    let head = writer.add("n=1").await?;
    writer.write_records(root, vec![], vec![record(key(0, Step, "s"), "x")]).await?;
    writer.write_records(head, vec![], vec![record(key(0, Finished, ""), "y")]).await?;
    for name in NAMESPACES.iter().skip(1) {
        let mut inner = writer.in_namespace(name);
        let first = inner.add("inner=1").await?;
        inner.add("inner+2").await?;
        inner.write_records(first, vec![], vec![record(key(3, Step, name), "z")]).await?;
    }
    Ok(())
}

pub(crate) async fn copy_is_complete(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    rich(&mut writer).await?;
    let original = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    let copy = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    copy.expect_equal(
        &original,
        "a copy has all namespaces, checkpoints, values and records, the epoch and the origin",
    )?;
    let after = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    after.expect_equal(&original, "a copy does not change the original")
}

pub(crate) async fn copy_and_original_are_independent(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    rich(&mut writer).await?;
    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    let original = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    // A copy has the origin of its original.
    let mut copy = Writer { thread: "copy".into(), ..writer.clone() };
    copy.raise_epoch().await?;
    let head = copy.fence.head;
    copy.add("n=2 list+copy").await?;
    copy.fork(head, "list=copy").await?;
    if let Some(head) = head {
        copy.write_records(head, vec![key(0, Finished, "")], vec![record(key(1, Step, "c"), "c")]).await?;
    }
    let after = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    after.expect_equal(&original, "writes to a copy do not change the original")?;

    let changed = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    writer.add("n=3 list+original").await?;
    let after = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    after.expect_equal(&changed, "writes to the original do not change a copy")?;
    store.delete("t", None).await.works("a thread can be deleted")?;
    let after = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    after.expect_equal(&changed, "a copy survives the deletion of its original")?;
    store.copy("copy", "t", None).await.works("a thread can be copied to the name of a deleted thread")?;
    ThreadContents::read(&*store, "t", &NAMESPACES)
        .await?
        .expect_equal(&changed, "a copy of a copy is complete")
}

pub(crate) async fn copy_never_overwrites_a_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let mut other = Writer::new(&store, "other");
    other.raise_epoch().await?;
    for to in ["t", "other"] {
        let result = store.copy("t", to, None).await;
        let exists = matches!(&result, Err(CheckpointError::Exists { thread, .. }) if &**thread == to);
        holds(format!("copying to the existing thread `{to}` fails with `Exists`"), exists, &result)?;
    }
    for (from, to) in [("missing", "new"), ("missing", "t"), ("missing", "missing")] {
        let result = store.copy(from, to, None).await;
        let missing = matches!(&result, Err(CheckpointError::NoThread { thread, .. }) if &**thread == from);
        holds(
            format!("copying the missing thread `{from}` to `{to}` fails with `NoThread`"),
            missing,
            &result,
        )?;
    }
    let new = store.get("new", "", None).await.works("a missing thread is not an error")?;
    holds("a failed copy creates no thread", new.origin.is_none(), &new)?;
    writer.expect_fence("a failed copy changes nothing").await?;
    other.expect_fence("a failed copy changes nothing").await
}

pub(crate) async fn copy_requires_the_named_epoch(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    writer.raise_epoch().await?;
    for (epoch, to) in [(0, "new"), (2, "new"), (2, "t")] {
        let expected = Fence::new(epoch, writer.fence.head);
        let result = store.copy("t", to, Some(epoch)).await;
        result.conflicts("a thread of another epoch is not copied", expected, writer.fence)?;
    }
    let missing = store.copy("missing", "new", Some(0)).await;
    holds(
        "a missing thread has no epoch",
        matches!(missing, Err(CheckpointError::NoThread { .. })),
        &missing,
    )?;
    let new = store.get("new", "", None).await.works("a missing thread is not an error")?;
    holds("a refused copy creates no thread", new.origin.is_none(), &new)?;
    store.copy("t", "new", Some(1)).await.works("a thread of the named epoch is copied")?;
    let new = store.get("new", "", None).await.works("a copy can be read")?;
    same("the copy has the fence of the original", writer.fence, new.fence)
}
