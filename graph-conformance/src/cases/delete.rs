//! Deleting a thread.

use superstep_store::checkpoint::RecordKind::Step;
use superstep_store::checkpoint::{BatchWrite, Fence, Loaded, ThreadQuery};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect, same};
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
        ThreadContents::read(&*store, name, &[""])
            .await?
            .expect_equal(&before, "other threads are not touched")?;
    }
    Ok(())
}

pub(crate) async fn deleted_thread_can_be_created_again(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut old = Writer::new(&store, "t");
    old.raise_epoch().await?;
    let first = old.add("list+old secret=1").await?;
    old.write_records(first, vec![], vec![record(key(0, Step, "s"), "old")]).await?;
    store.delete("t").await.works("a thread can be deleted")?;
    let mut new = Writer::new(&store, "t");
    new.origin = "another origin".into();
    let mut draft = new.draft("list+new");
    // Even an id that was there before.
    draft.checkpoint.id = first;
    let id = new.add_draft(draft).await?;
    new.expect_fields(id, "list+new", "nothing of the deleted thread comes back").await?;
    same("no record comes back", 0, new.read(id).await?.records.len())?;
    let loaded = store.get("t", "", None).await.works("a thread can be read")?;
    same("epoch and head begin anew", Fence { epoch: 0, head: Some(id) }, loaded.fence)?;
    same("the origin is the new one", Some("another origin"), loaded.origin.as_deref())
}

pub(crate) async fn delete_stops_the_writers_of_the_thread(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut old = Writer::new(&store, "t");
    old.raise_epoch().await?;
    let id = old.add("a=1").await?;
    store.delete("t").await.works("a thread can be deleted")?;
    let seen = old.fence;
    let late =
        BatchWrite::Records { checkpoint: id, remove: vec![], put: vec![record(key(0, Step, "s"), "x")] };
    for writes in [vec![checkpoint_write(old.draft("a=2"))], vec![late.clone()], vec![]] {
        let result = store.commit(old.batch(writes)).await;
        result.conflicts("a writer of a deleted thread is stopped", seen, Fence::default())?;
    }
    let gone = store.get("t", "", None).await.works("a thread need not be there")?;
    same("a writer that is stopped makes no thread", Loaded::default(), gone)?;

    // A new thread that happens to stand where the old one stood.
    let mut new = Writer::new(&store, "t");
    new.origin = "another".into();
    new.raise_epoch().await?;
    let mut draft = new.draft("a=new");
    draft.checkpoint.id = id;
    new.add_draft(draft).await?;
    same("the new thread stands where the old one stood", seen, new.fence)?;
    for writes in [vec![checkpoint_write(old.draft("a=2"))], vec![late], vec![]] {
        let result = store.commit(old.batch(writes)).await;
        result.conflicts("a writer of the thread before is stopped by its origin", seen, seen)?;
    }
    new.expect_fields(id, "a=new", "what it would have written is nowhere").await
}
