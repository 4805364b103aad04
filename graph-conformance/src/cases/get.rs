//! Reads of one checkpoint.

use futures_util::future::join;
use superstep_store::checkpoint::{CheckpointId, Loaded};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, holds, same};
use crate::writer::Writer;

pub(crate) async fn missing_checkpoint_is_not_an_error(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let none = store.get("missing", "", None).await.works("a missing thread is not an error")?;
    same("a missing thread has no contents", Loaded::default(), none)?;
    let none = store.get("missing", "x", Some(CheckpointId::after(None))).await;
    same(
        "a missing thread has no contents",
        Loaded::default(),
        none.works("a missing thread is not an error")?,
    )?;

    let mut writer = Writer::new(&store, "t");
    writer.add("a=1").await?;
    let origin = writer.origin.clone();
    let loaded = store.get("t", "child", None).await.works("a missing namespace is not an error")?;
    holds("a missing namespace has no checkpoint", loaded.found.is_none(), &loaded)?;
    same("a missing namespace is read with the origin of the thread", Some(&origin), loaded.origin.as_ref())?;
    let loaded = store.get("t", "", Some(CheckpointId::after(writer.fence.head))).await;
    let loaded = loaded.works("a missing checkpoint is not an error")?;
    holds("a missing checkpoint is not found", loaded.found.is_none(), &loaded)?;
    same("a missing checkpoint is read with the fence of the namespace", writer.fence, loaded.fence)
}

pub(crate) async fn get_reads_the_head_by_default(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.push(writer.add(&format!("a={n}")).await?);
    }
    // The newest checkpoint is the head, even if it follows an old one.
    let fork = writer.fork(ids.first().copied(), "b=1").await?;
    let loaded = store.get("t", "", None).await.works("a thread can be read")?;
    same("the newest checkpoint is the head", Some(fork), loaded.found.map(|found| found.checkpoint.id))?;
    same("the newest checkpoint is the head", Some(fork), loaded.fence.head)?;
    for (n, id) in ids.iter().enumerate() {
        writer.expect_fields(*id, &format!("a={n}"), "an old checkpoint reads unchanged").await?;
        let loaded = store.get("t", "", Some(*id)).await.works("an old checkpoint can be read")?;
        same("an old checkpoint is read with the current fence", Some(fork), loaded.fence.head)?;
    }
    Ok(())
}

pub(crate) async fn get_finds_exact_ids_only(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    for byte in [10, 20, 30] {
        let mut new = writer.draft("a=1");
        new.checkpoint.id = CheckpointId::from_bytes([byte; 16]);
        writer.add_draft(new).await?;
    }
    for byte in [0, 9, 11, 25, 31, 255] {
        let id = CheckpointId::from_bytes([byte; 16]);
        let loaded = store.get("t", "", Some(id)).await.works("a missing checkpoint is not an error")?;
        holds(
            format!("{id} does not exist, although similar ids do"),
            loaded.found.is_none(),
            &loaded.found,
        )?;
    }
    Ok(())
}

pub(crate) async fn get_reads_one_moment(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    writer.add("n=0 list+0").await?;
    let write = async {
        for n in 1..=60 {
            writer.add(&format!("n={n} list+{n}")).await?;
        }
        Ok::<_, Broken>(())
    };
    let read = async {
        for _ in 0..60 {
            let loaded = store.get("t", "", None).await.works("a thread can be read during writes")?;
            let Some(found) = loaded.found else {
                return Err(Broken::new("an existing thread is found", "a checkpoint", "nothing"));
            };
            same("head and checkpoint are of one moment", loaded.fence.head, Some(found.checkpoint.id))?;
            let fields = crate::shorthand::format_fields(&found);
            let n = found.checkpoint.step + 1;
            let list: String = (0..=n).map(|n| format!("list+{n} ")).collect();
            same("a checkpoint is read with its own fields", format!("{list}n={n}"), fields)?;
        }
        Ok(())
    };
    let (written, read) = join(write, read).await;
    written.and(read)
}
