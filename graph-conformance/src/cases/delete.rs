//! Deleting a thread.

use superstep_store::checkpoint::RecordKind::Step;
use superstep_store::checkpoint::{BatchWrite, Fence, Loaded, ThreadQuery};

use crate::Broken;
use crate::case::Here;
use crate::everything::{Everything, ids, query};
use crate::expect::{Expect, same};
use crate::notation::{key, record};
use crate::writer::{Writer, adds};

pub(crate) async fn nothing_of_a_deleted_thread_is_left(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    let id = writer.add("a=1 list+1").await?;
    writer.tell(id, vec![], vec![record(key(0, Step, "s"), "x")]).await?;
    let mut inner = writer.within("child");
    inner.add("b=1").await?;
    let mut others = Vec::new();
    for name in ["t2", "T", "", "t%", "_"] {
        let mut other = Writer::new(&store, name);
        other.add("a=1").await?;
        others.push((name, Everything::of(&*store, name, &[""]).await?));
    }
    same("what was there is deleted", true, store.delete("t").await.works("a thread can be deleted")?)?;
    for namespace in ["", "child"] {
        for checkpoint in [None, Some(id)] {
            let loaded = store.get("t", namespace, checkpoint).await.works("a thread need not be there")?;
            same("nothing of a deleted thread is found", Loaded::default(), loaded)?;
        }
        same("nothing of it is listed", 0, ids(&*store, query("t", namespace)).await?.len())?;
    }
    let threads = store.threads(ThreadQuery { prefix: Some("t".into()), ..ThreadQuery::default() }).await;
    let names: Vec<_> =
        threads.works("threads can be listed")?.items.into_iter().map(|item| item.thread).collect();
    same("it is no thread any more", vec!["t%".into(), "t2".into()], names)?;
    same(
        "what is gone is not deleted again",
        false,
        store.delete("t").await.works("deleting twice is no error")?,
    )?;
    same("nor what never was", false, store.delete("nobody").await.works("deleting nothing is no error")?)?;
    for (name, before) in others {
        Everything::of(&*store, name, &[""]).await?.is(&before, "other threads are not touched")?;
    }
    Ok(())
}

pub(crate) async fn a_deleted_thread_can_begin_anew(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut old = Writer::new(&store, "t");
    old.raise().await?;
    let first = old.add("list+old secret=1").await?;
    old.tell(first, vec![], vec![record(key(0, Step, "s"), "old")]).await?;
    store.delete("t").await.works("a thread can be deleted")?;
    let mut new = Writer::new(&store, "t");
    new.origin = "another origin".into();
    let mut draft = new.draft("list+new");
    // Even an id that was there before.
    draft.checkpoint.id = first;
    let id = new.add_as(draft).await?;
    new.reads(id, "list+new", "nothing of the deleted thread comes back").await?;
    same("no record comes back", 0, new.read(id).await?.records.len())?;
    let loaded = store.get("t", "", None).await.works("a thread can be read")?;
    same("epoch and head begin anew", Fence { epoch: 0, head: Some(id) }, loaded.fence)?;
    same("the origin is the new one", Some("another origin"), loaded.origin.as_deref())
}

pub(crate) async fn a_writer_of_a_deleted_thread_is_stopped(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut old = Writer::new(&store, "t");
    old.raise().await?;
    let id = old.add("a=1").await?;
    store.delete("t").await.works("a thread can be deleted")?;
    let seen = old.fence;
    let late =
        BatchWrite::Records { checkpoint: id, remove: vec![], put: vec![record(key(0, Step, "s"), "x")] };
    for writes in [vec![adds(old.draft("a=2"))], vec![late.clone()], vec![]] {
        let result = store.commit(old.batch(writes)).await;
        result.conflicts("a writer of a deleted thread is stopped", seen, Fence::default())?;
    }
    let gone = store.get("t", "", None).await.works("a thread need not be there")?;
    same("a writer that is stopped makes no thread", Loaded::default(), gone)?;

    // A new thread that happens to stand where the old one stood.
    let mut new = Writer::new(&store, "t");
    new.origin = "another".into();
    new.raise().await?;
    let mut draft = new.draft("a=new");
    draft.checkpoint.id = id;
    new.add_as(draft).await?;
    same("the new thread stands where the old one stood", seen, new.fence)?;
    for writes in [vec![adds(old.draft("a=2"))], vec![late], vec![]] {
        let result = store.commit(old.batch(writes)).await;
        result.conflicts("a writer of the thread before is stopped by its origin", seen, seen)?;
    }
    new.reads(id, "a=new", "what it would have written is nowhere").await
}
