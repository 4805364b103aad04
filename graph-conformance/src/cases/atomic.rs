//! Invalid batches, which change nothing.

use superstep_store::checkpoint::RecordKind::{Finished, Step};
use superstep_store::checkpoint::{BatchWrite, CheckpointId};

use crate::Broken;
use crate::case::Target;
use crate::expect::{Expect as _, Refusal as _};
use crate::shorthand::{key, record};
use crate::thread_contents::ThreadContents;
use crate::writer::{Writer, checkpoint_write};

fn id(byte: u8) -> CheckpointId {
    CheckpointId::from_bytes([byte; 16])
}

pub(crate) async fn new_id_must_sort_after_all_others(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    // The last id is negative as a signed number.
    for byte in [0, 1, 0x7f, 0x80] {
        let mut new = writer.draft("a+1");
        new.checkpoint.id = id(byte);
        writer.add_draft(new).await?;
    }
    let before = ThreadContents::read(&*store, "t", &[""]).await?;
    for invalid in [id(0), id(0x7e), id(0x7f), id(0x80)] {
        let mut new = writer.draft("a+2");
        new.checkpoint.id = invalid;
        new.checkpoint.parent = Some(id(0x7f));
        let result = store.commit(writer.batch(vec![checkpoint_write(new)])).await;
        result.refused(format!("an id that does not sort after all others is refused: {invalid}"))?;
    }
    let after = ThreadContents::read(&*store, "t", &[""]).await?;
    after.expect_equal(&before, "a refused batch changes nothing")?;
    let mut new = writer.draft("a+3");
    new.checkpoint.id = id(0xff);
    let last = writer.add_draft(new).await?;
    writer.expect_fields(last, "a+1 a+1 a+1 a+1 a+3", "a thread continues after a refused batch").await
}

pub(crate) async fn parent_must_exist(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let mut lonely = writer.draft("a=1");
    lonely.checkpoint.parent = Some(CheckpointId::from_bytes([0; 16]));
    let result = store.commit(writer.batch(vec![checkpoint_write(lonely)])).await;
    result.refused("a first checkpoint cannot have a parent")?;
    writer.expect_fence("a refused batch creates no thread").await?;

    writer.add("a=1").await?;
    let mut inner = writer.in_namespace("child");
    let elsewhere = inner.add("a=1").await?;
    let mut other = Writer::new(&store, "other");
    let foreign = other.add("a=1").await?;
    let own = writer.draft("").checkpoint.id;
    let invalid = [
        ("in another namespace", elsewhere),
        ("in another thread", foreign),
        ("unknown", id(0xff)),
        ("the checkpoint itself", own),
    ];
    for (what, parent) in invalid {
        let mut new = writer.draft("a+2");
        new.checkpoint.id = own;
        new.checkpoint.parent = Some(parent);
        let result = store.commit(writer.batch(vec![checkpoint_write(new)])).await;
        result.refused(format!("a parent must be in the same namespace, not {what}"))?;
    }
    writer.expect_fence("a refused batch changes nothing").await
}

pub(crate) async fn records_require_an_existing_checkpoint(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let put = || vec![record(key(0, Finished, ""), "x")];
    let to = |checkpoint| BatchWrite::records(checkpoint, vec![], put());
    let result = store.commit(writer.batch(vec![to(id(1))])).await;
    result.refused("records in a missing thread are refused")?;
    writer.expect_fence("a refused batch creates no thread").await?;
    let head = writer.add("a=1").await?;
    let mut inner = writer.in_namespace("child");
    let elsewhere = inner.add("a=1").await?;
    for invalid in [elsewhere, CheckpointId::after(Some(head)), id(0)] {
        let result = store.commit(writer.batch(vec![to(invalid)])).await;
        result.refused("records of a missing checkpoint are refused")?;
    }
    // Records must not precede their checkpoint in a batch.
    let new = writer.draft("a=2");
    let early = vec![to(new.checkpoint.id), checkpoint_write(new)];
    let result = store.commit(writer.batch(early)).await;
    result.refused("records must follow their checkpoint in the batch")?;
    writer.expect_fence("a refused batch changes nothing").await
}

pub(crate) async fn invalid_write_rejects_the_whole_batch(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let head = writer.add("a=1 b+1").await?;
    writer.write_records(head, vec![], vec![record(key(0, Step, "s"), "kept")]).await?;
    let before = ThreadContents::read(&*store, "t", &["", "new"]).await?;

    let good = writer.draft("a=2 b+2 c=new");
    let good_id = good.checkpoint.id;
    let change = BatchWrite::records(head, vec![key(0, Step, "s")], vec![record(key(1, Finished, ""), "x")]);
    let mut second = writer.draft("a=3");
    second.checkpoint.id = CheckpointId::after(Some(good_id));
    second.checkpoint.parent = Some(good_id);
    let unknown = BatchWrite::records(id(0xee), vec![], vec![]);
    let mut orphan = writer.draft("a=4");
    orphan.checkpoint.id = id(0xef);
    orphan.checkpoint.parent = Some(id(0xee));
    let mut back = writer.draft("a=5");
    back.checkpoint.id = id(0);
    for bad in [unknown, checkpoint_write(orphan), checkpoint_write(back)] {
        for at in 0..=3 {
            let mut writes =
                vec![checkpoint_write(good.clone()), change.clone(), checkpoint_write(second.clone())];
            writes.insert(at, bad.clone());
            // An orphan at the first position makes the other ids invalid too.
            let batch = writer.batch(writes).epoch(9);
            store
                .commit(batch)
                .await
                .refused(format!("a batch with an invalid write at position {at} is refused"))?;
            let after = ThreadContents::read(&*store, "t", &["", "new"]).await?;
            after.expect_equal(&before, "a refused batch changes nothing")?;
        }
    }
    let inner = writer.in_namespace("new");
    let mut orphan = inner.draft("a=1");
    orphan.checkpoint.parent = Some(head);
    let batch = inner.batch(vec![checkpoint_write(inner.draft("a=0")), checkpoint_write(orphan)]);
    store.commit(batch).await.refused("a parent must be in the same namespace")?;
    let after = ThreadContents::read(&*store, "t", &["", "new"]).await?;
    after.expect_equal(&before, "a refused batch changes nothing")?;

    let all = vec![checkpoint_write(good), change, checkpoint_write(second)];
    writer.commit(writer.batch(all)).await.works("the same writes without the invalid one are accepted")?;
    writer.expect_fence("the head is the last checkpoint of the batch").await
}

pub(crate) async fn batch_may_add_several_checkpoints(target: Target<'_>) -> Result<(), Broken> {
    let store = target.open().await?;
    let mut writer = Writer::new(&store, "t");
    let base = writer.add("a=0").await?;
    let mut plan = writer.clone();
    let mut writes = Vec::new();
    let mut added = Vec::new();
    for (number, parent) in [(1, Some(base)), (2, None), (3, Some(base)), (4, Some(base))] {
        let mut new = plan.draft(&format!("a+{number}"));
        // The second checkpoint follows the first one of the same batch.
        new.checkpoint.parent = parent.or(added.first().copied());
        let id = new.checkpoint.id;
        writes.push(checkpoint_write(new));
        let put = vec![record(key(number, Finished, ""), "done")];
        writes.push(BatchWrite::records(id, vec![], put));
        added.push(id);
        plan.fence.head = Some(id);
        plan.step += 1;
    }
    writer.commit(writer.batch(writes)).await.works("a batch may add several checkpoints")?;
    writer.expect_fence("the last checkpoint of the batch is the head").await?;
    for (id, line) in added.iter().zip(["a=0 a+1", "a=0 a+1 a+2", "a=0 a+3", "a=0 a+4"]) {
        writer.expect_fields(*id, line, "each checkpoint of a batch has its own parent").await?;
        crate::expect::same(
            "each checkpoint of a batch has its own records",
            1,
            writer.read(*id).await?.records.len(),
        )?;
    }
    Ok(())
}
