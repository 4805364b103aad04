//! A thread whose checkpoints append numbers to a field.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::UNIX_EPOCH;

use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointSource,
    Checkpointer, Fence, FieldChange, NewCheckpoint, RunRecord, WriteBatch,
};
use superstep_store::payload::Payload;

/// Returns a batch that follows `fence` and appends a line to the log of a thread.
pub(crate) fn append(thread: &str, fence: Fence, text: &str) -> WriteBatch {
    let run = Arc::new(RunRecord::new("run", "{}"));
    let checkpoint =
        Checkpoint::new(CheckpointId::after(fence.head), 0, CheckpointSource::Loop, run, UNIX_EPOCH)
            .parent(fence.head)
            .next(vec!["next".into()]);
    let change = FieldChange::new("log", ChangeKind::Delta, Payload::json(format!("{text:?}")));
    let new = NewCheckpoint::new(checkpoint).changes(vec![change]);
    WriteBatch::new(thread, "origin", fence).writes(vec![BatchWrite::checkpoint(new)])
}

/// Returns the fence after a batch of [`append`].
pub(crate) fn after(batch: &WriteBatch) -> Fence {
    let added = batch.writes.iter().find_map(|write| match write {
        BatchWrite::Checkpoint(new) => Some(new.checkpoint.id),
        _ => None,
    });
    Fence::new(batch.epoch, added.or(batch.fence.head))
}

/// Reads the fence and the log of a thread.
pub(crate) async fn read(
    store: &impl Checkpointer,
    thread: &str,
) -> Result<(Fence, Vec<String>), CheckpointError> {
    let loaded = store.get(thread, "", None).await?;
    let fields = loaded.found.map(|found| found.fields).unwrap_or_default();
    let changes = fields.into_iter().flat_map(|field| field.changes);
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap().trim_matches('"').to_owned();
    Ok((loaded.fence, changes.map(|change| text(change.payload.bytes())).collect()))
}

/// Polls a call once.
pub(crate) async fn submit<T>(call: &mut CheckpointFuture<'_, T>) {
    poll_fn(|cx| Poll::Ready(call.as_mut().poll(cx).is_ready())).await;
}
