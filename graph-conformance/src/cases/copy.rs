//! Copying a thread.

use superstep_store::checkpoint::CheckpointError;
use superstep_store::checkpoint::RecordKind::{Finished, Step};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect, holds};
use crate::shorthand::{key, record};
use crate::thread_contents::ThreadContents;
use crate::writer::Writer;

const NAMESPACES: [&str; 3] = ["", "child:0", "child:0|x"];

/// A thread with everything that a thread can have.
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
    store.copy("t", "copy").await.works("a thread can be copied")?;
    let copy = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    copy.expect_equal(
        &original,
        "a copy has every namespace, checkpoint, value and record, the epoch and the origin",
    )?;
    let after = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    after.expect_equal(&original, "copying changes nothing of the original")
}

pub(crate) async fn copy_and_original_are_independent(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    rich(&mut writer).await?;
    store.copy("t", "copy").await.works("a thread can be copied")?;
    let original = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    // The copy's origin is the original's, and so is its writer's.
    let mut copy = Writer { thread: "copy".into(), ..writer.clone() };
    copy.raise_epoch().await?;
    let head = copy.fence.head;
    copy.add("n=2 list+copy").await?;
    copy.fork(head, "list=copy").await?;
    if let Some(head) = head {
        copy.write_records(head, vec![key(0, Finished, "")], vec![record(key(1, Step, "c"), "c")]).await?;
    }
    let after = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    after.expect_equal(&original, "what is written to a copy does not change the original")?;

    let changed = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    writer.add("n=3 list+original").await?;
    let after = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    after.expect_equal(&changed, "what is written to the original does not change a copy")?;
    store.delete("t").await.works("a thread can be deleted")?;
    let after = ThreadContents::read(&*store, "copy", &NAMESPACES).await?;
    after.expect_equal(&changed, "a copy does not need its original")?;
    store.copy("copy", "t").await.works("a name that is free again can be copied to")?;
    ThreadContents::read(&*store, "t", &NAMESPACES).await?.expect_equal(&changed, "a copy of a copy is one")
}

pub(crate) async fn copy_never_overwrites_a_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let mut other = Writer::new(&store, "other");
    other.raise_epoch().await?;
    for to in ["t", "other"] {
        let result = store.copy("t", to).await;
        let exists = matches!(&result, Err(CheckpointError::Exists { thread }) if &**thread == to);
        holds(format!("`{to}` is there, so that nothing is copied to it"), exists, &result)?;
    }
    for (from, to) in [("nobody", "new"), ("nobody", "t"), ("nobody", "nobody")] {
        let result = store.copy(from, to).await;
        let missing = matches!(&result, Err(CheckpointError::NoThread { thread }) if &**thread == from);
        holds(format!("`{from}` is not there to be copied to `{to}`"), missing, &result)?;
    }
    let new = store.get("new", "", None).await.works("a thread need not be there")?;
    holds("a copy that failed makes no thread", new.origin.is_none(), &new)?;
    writer.expect_fence("a copy that failed changes nothing").await?;
    other.expect_fence("a copy that failed changes nothing").await
}
