//! Copying a thread.

use superstep_store::checkpoint::CheckpointError;
use superstep_store::checkpoint::RecordKind::{Finished, Step};

use crate::Broken;
use crate::case::Here;
use crate::everything::Everything;
use crate::expect::{Expect, holds};
use crate::notation::{key, record};
use crate::writer::Writer;

const NAMESPACES: [&str; 3] = ["", "child:0", "child:0|x"];

/// A thread with everything that a thread can have.
async fn rich(writer: &mut Writer) -> Result<(), Broken> {
    writer.raise().await?;
    let root = writer.add("list+1 n=0").await?;
    for n in 0..70 {
        writer.add(&format!("list+{n}")).await?;
    }
    writer.fork(Some(root), "list+fork").await?;
    let head = writer.add("n=1").await?;
    writer.tell(root, vec![], vec![record(key(0, Step, "s"), "x")]).await?;
    writer.tell(head, vec![], vec![record(key(0, Finished, ""), "y")]).await?;
    for name in NAMESPACES.iter().skip(1) {
        let mut inner = writer.within(name);
        let first = inner.add("inner=1").await?;
        inner.add("inner+2").await?;
        inner.tell(first, vec![], vec![record(key(3, Step, name), "z")]).await?;
    }
    Ok(())
}

pub(crate) async fn a_copy_has_everything(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    rich(&mut writer).await?;
    let original = Everything::of(&*store, "t", &NAMESPACES).await?;
    store.copy("t", "copy").await.works("a thread can be copied")?;
    let copy = Everything::of(&*store, "copy", &NAMESPACES).await?;
    copy.is(&original, "a copy has every namespace, checkpoint, value and record, the epoch and the origin")?;
    let after = Everything::of(&*store, "t", &NAMESPACES).await?;
    after.is(&original, "copying changes nothing of the original")
}

pub(crate) async fn a_copy_and_its_original_go_on_apart(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    rich(&mut writer).await?;
    store.copy("t", "copy").await.works("a thread can be copied")?;
    let original = Everything::of(&*store, "t", &NAMESPACES).await?;
    // The copy's origin is the original's, and so is its writer's.
    let mut copy = Writer { thread: "copy".into(), ..writer.clone() };
    copy.raise().await?;
    let head = copy.fence.head;
    copy.add("n=2 list+copy").await?;
    copy.fork(head, "list=copy").await?;
    if let Some(head) = head {
        copy.tell(head, vec![key(0, Finished, "")], vec![record(key(1, Step, "c"), "c")]).await?;
    }
    let after = Everything::of(&*store, "t", &NAMESPACES).await?;
    after.is(&original, "what is written to a copy does not change the original")?;

    let changed = Everything::of(&*store, "copy", &NAMESPACES).await?;
    writer.add("n=3 list+original").await?;
    let after = Everything::of(&*store, "copy", &NAMESPACES).await?;
    after.is(&changed, "what is written to the original does not change a copy")?;
    store.delete("t").await.works("a thread can be deleted")?;
    let after = Everything::of(&*store, "copy", &NAMESPACES).await?;
    after.is(&changed, "a copy does not need its original")?;
    store.copy("copy", "t").await.works("a name that is free again can be copied to")?;
    Everything::of(&*store, "t", &NAMESPACES).await?.is(&changed, "a copy of a copy is one")
}

pub(crate) async fn a_copy_takes_no_others_place(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let mut other = Writer::new(&store, "other");
    other.raise().await?;
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
    writer.stands("a copy that failed changes nothing").await?;
    other.stands("a copy that failed changes nothing").await
}
