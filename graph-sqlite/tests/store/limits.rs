//! The largest payload that the limits allow fits into a row.

use std::time::UNIX_EPOCH;

use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointId, CheckpointSource, Checkpointer, Fence, FieldChange,
    NewCheckpoint, RunRecord, WriteBatch,
};
use superstep_store::limits::MAX_PAYLOAD_BYTES;
use superstep_store::payload::{Encoding, Payload};

#[tokio::test]
async fn payloads_at_the_size_limit_are_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let open = || SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(&path).unwrap();
    // An encrypted payload may be a little longer, and shares its row with the names of planned nodes.
    let payload = Payload::new(Encoding::Sealed, vec![0xa5; MAX_PAYLOAD_BYTES + 64]);
    let id = CheckpointId::after(None);
    let run = RunRecord::new("r", "p");
    let checkpoint =
        Checkpoint::new(id, -1, CheckpointSource::Input, run, UNIX_EPOCH).progress(payload.clone());
    // Two changes of one field share a row as well.
    let half =
        |len: usize| FieldChange::new("f", ChangeKind::Delta, Payload::new(Encoding::Bytes, vec![0x5a; len]));
    let changes = vec![half(MAX_PAYLOAD_BYTES / 2 - 32), half(MAX_PAYLOAD_BYTES / 2 - 32)];
    let new = NewCheckpoint::new(checkpoint).changes(changes.clone());
    let store = open();
    let batch = WriteBatch::new("t", "o", Fence::default()).writes(vec![BatchWrite::checkpoint(new)]);
    store.commit(batch).await.unwrap();
    store.close().await.unwrap();

    let found = open().get("t", "", Some(id)).await.unwrap().found.unwrap();
    assert!(found.checkpoint.progress.is_some_and(|found| found == payload));
    let [field] = found.fields.as_slice() else { panic!("one field") };
    assert!(
        field.changes.iter().map(|change| &change.payload).eq(changes.iter().map(|change| &change.payload))
    );
}
