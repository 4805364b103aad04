//! Acknowledged writes after a reopen.

use superstep_store::checkpoint::Prune;
use superstep_store::checkpoint::RecordKind::{Finished, Step};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _};
use crate::shorthand::{key, record};
use crate::thread_contents::ThreadContents;
use crate::writer::{Writer, checkpoint_write};

const NAMESPACES: [&str; 2] = ["", "child"];

pub(crate) async fn acknowledged_commits_survive_a_reopen(target: Target<'_>) -> Result<(), Broken> {
    let mut writer = Writer::new(&target.open().await?, "t");
    for n in 0..12 {
        let parent = writer.fence.head;
        writer.add(&format!("list+{n} n={n}")).await?;
        if n % 4 == 3 {
            writer.fork(parent, "list+fork").await?;
        }
        if let Some(head) = writer.fence.head {
            writer
                .write_records(
                    head,
                    vec![],
                    vec![record(key(0, Step, "s"), "x"), record(key(0, Finished, ""), "y")],
                )
                .await?;
            writer.write_records(head, vec![key(0, Step, "s")], vec![]).await?;
        }
        writer.raise_epoch().await?;
        let mut inner = writer.in_namespace("child");
        inner.fence.head =
            inner.store.get("t", "child", None).await.works("a namespace can be read")?.fence.head;
        inner.add(&format!("inner+{n}")).await?;
        drop(inner);
        let before = ThreadContents::read(&*writer.store, "t", &NAMESPACES).await?;

        writer = writer.reopen(target).await?;
        let after = ThreadContents::read(&*writer.store, "t", &NAMESPACES).await?;
        after.expect_equal(&before, "acknowledged writes are found after a reopen")?;
    }
    Ok(())
}

pub(crate) async fn copies_deletions_and_prunes_survive_a_reopen(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for n in 0..100 {
        writer.add(&format!("list+{n}")).await?;
    }
    store.copy("t", "copy", None).await.works("a thread can be copied")?;
    store.copy("t", "deleted", None).await.works("a thread can be copied")?;
    store.delete("deleted", None).await.works("a thread can be deleted")?;
    let prune = Prune::new().thread("copy").keep_last(2);
    store.prune(prune).await.works("a thread can be pruned")?;
    let mut before = Vec::new();
    for name in ["t", "copy", "deleted"] {
        before.push((name, ThreadContents::read(&*store, name, &NAMESPACES).await?));
    }
    drop((writer, store));
    let store = target.open().await?;
    for (name, before) in before {
        let after = ThreadContents::read(&*store, name, &NAMESPACES).await?;
        after.expect_equal(&before, format!("`{name}` is unchanged after a reopen"))?;
    }
    Ok(())
}

pub(crate) async fn refused_batches_never_appear_after_a_reopen(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let stale = {
        let mut changed = writer.batch(vec![checkpoint_write(writer.draft("a=2"))]);
        changed.fence = Default::default();
        changed
    };
    let result = store.commit(stale).await;
    result.conflicts("a stale writer is refused", Default::default(), writer.fence)?;
    let mut orphan = writer.draft("a=3");
    orphan.checkpoint.parent = Some(orphan.checkpoint.id);
    let result = store
        .commit(writer.batch(vec![checkpoint_write(writer.draft("a=2")), checkpoint_write(orphan)]))
        .await;
    result.refused("an invalid batch is refused")?;
    let before = ThreadContents::read(&*store, "t", &NAMESPACES).await?;
    let fence = writer.fence;
    drop((writer, store));
    let store = target.open().await?;
    ThreadContents::read(&*store, "t", &NAMESPACES)
        .await?
        .expect_equal(&before, "refused writes are not found after a reopen")?;
    let mut writer = Writer::new(&store, "t");
    writer.fence = fence;
    writer.add("a=4").await.map(|_| ())
}
