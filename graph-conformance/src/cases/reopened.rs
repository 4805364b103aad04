//! What was acknowledged is there when the store is opened again.

use superstep_store::checkpoint::RecordKind::{Finished, Step};
use superstep_store::checkpoint::{Prune, WriteBatch};

use crate::Broken;
use crate::case::Here;
use crate::everything::Everything;
use crate::expect::Expect;
use crate::notation::{key, record};
use crate::writer::{Writer, adds};

const NAMESPACES: [&str; 2] = ["", "child"];

pub(crate) async fn what_was_acknowledged_is_found_after_each_call(here: Here<'_>) -> Result<(), Broken> {
    let mut writer = Writer::new(&here.open().await?, "t");
    for n in 0..12 {
        let parent = writer.fence.head;
        writer.add(&format!("list+{n} n={n}")).await?;
        if n % 4 == 3 {
            writer.fork(parent, "list+fork").await?;
        }
        if let Some(head) = writer.fence.head {
            writer
                .tell(head, vec![], vec![record(key(0, Step, "s"), "x"), record(key(0, Finished, ""), "y")])
                .await?;
            writer.tell(head, vec![key(0, Step, "s")], vec![]).await?;
        }
        writer.raise().await?;
        let mut inner = writer.within("child");
        inner.fence.head =
            inner.store.get("t", "child", None).await.works("a namespace can be read")?.fence.head;
        inner.add(&format!("inner+{n}")).await?;
        drop(inner);
        let before = Everything::of(&*writer.store, "t", &NAMESPACES).await?;

        writer = writer.reopen(here).await?;
        let after = Everything::of(&*writer.store, "t", &NAMESPACES).await?;
        after.is(&before, "what was acknowledged is there when the store is opened again")?;
    }
    Ok(())
}

pub(crate) async fn what_was_done_to_threads_is_found_again(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    for n in 0..100 {
        writer.add(&format!("list+{n}")).await?;
    }
    store.copy("t", "copy").await.works("a thread can be copied")?;
    store.copy("t", "deleted").await.works("a thread can be copied")?;
    store.delete("deleted").await.works("a thread can be deleted")?;
    let prune = Prune { thread: Some("copy".into()), keep_last: Some(2), older_than: None };
    store.prune(prune).await.works("a thread can be pruned")?;
    let mut before = Vec::new();
    for name in ["t", "copy", "deleted"] {
        before.push((name, Everything::of(&*store, name, &NAMESPACES).await?));
    }
    drop((writer, store));
    let store = here.open().await?;
    for (name, before) in before {
        let after = Everything::of(&*store, name, &NAMESPACES).await?;
        after.is(&before, format!("`{name}` is as it was left"))?;
    }
    Ok(())
}

pub(crate) async fn what_was_refused_is_not_found_again(here: Here<'_>) -> Result<(), Broken> {
    let store = here.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let stale = WriteBatch { fence: Default::default(), ..writer.batch(vec![adds(writer.draft("a=2"))]) };
    let result = store.commit(stale).await;
    result.conflicts("a stale writer is refused", Default::default(), writer.fence)?;
    let mut orphan = writer.draft("a=3");
    orphan.checkpoint.parent = Some(orphan.checkpoint.id);
    let result = store.commit(writer.batch(vec![adds(writer.draft("a=2")), adds(orphan)])).await;
    result.refused("a bad batch is refused")?;
    let before = Everything::of(&*store, "t", &NAMESPACES).await?;
    let fence = writer.fence;
    drop((writer, store));
    let store = here.open().await?;
    Everything::of(&*store, "t", &NAMESPACES)
        .await?
        .is(&before, "nothing of what was refused comes up later")?;
    let mut writer = Writer::new(&store, "t");
    writer.fence = fence;
    writer.add("a=4").await.map(|_| ())
}
