//! Attacks with write access to the store, and key rotation.

mod attacks;
mod keys;

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use super::{EncryptedCheckpointer, Key, Keys};
use crate::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointError, CheckpointId, CheckpointSource, Checkpointer,
    CorruptCheckpoint, Fence, FieldChange, MemoryCheckpointer, NewCheckpoint, RecordKey, RecordKind,
    RunRecord, TaskRecord, WriteBatch,
};
use crate::payload::Payload;

const FIRST: TestKey = TestKey(1, 7);

/// A key number, and the byte that its secret repeats.
#[derive(Clone, Copy)]
struct TestKey(u32, u8);

impl From<TestKey> for Key {
    fn from(TestKey(id, byte): TestKey) -> Self {
        Self::new(id, &[byte; 32])
    }
}

/// Wraps the store. The first key is the current one.
fn encrypted(store: &MemoryCheckpointer, keys: &[TestKey]) -> EncryptedCheckpointer<MemoryCheckpointer> {
    let mut keys = keys.iter().map(|key| Key::from(*key));
    let current = Keys::new(keys.next().unwrap());
    EncryptedCheckpointer::new(store.clone(), keys.fold(current, Keys::with_old))
}

fn id(number: u8) -> CheckpointId {
    CheckpointId::from_bytes([number; 16])
}

/// `list+a n=1` writes a delta of `list` and a value of `n`.
fn changes(text: &str) -> Vec<FieldChange> {
    let change = |word: &str| {
        let (field, value) = word.split_at(word.find(['+', '=']).unwrap());
        let kind = if value.starts_with('=') { ChangeKind::Value } else { ChangeKind::Delta };
        FieldChange { field: field.to_owned().into(), kind, payload: Payload::json(&value[1..]) }
    };
    text.split_whitespace().map(change).collect()
}

fn record(task: u32, kind: RecordKind, key: &str) -> TaskRecord {
    let payload = Payload::json(format!("{task} {kind:?} {key}"));
    TaskRecord { key: RecordKey { task, kind, key: key.into() }, payload }
}

/// Adds the checkpoint with this number, after the one with the previous number.
fn batch(thread: &str, number: u8, text: &str) -> WriteBatch {
    let before = number.checked_sub(1).filter(|number| *number > 0).map(id);
    let checkpoint = Checkpoint {
        id: id(number),
        parent: before,
        step: i64::from(number) - 2,
        source: CheckpointSource::Loop,
        run: Arc::new(RunRecord {
            id: "run".into(),
            program: "program".into(),
            metadata: Default::default(),
        }),
        created_at: UNIX_EPOCH,
        next: vec!["ask".into(), "review".into()],
        progress: Some(Payload::json(format!("progress {number}"))),
    };
    let records = vec![
        record(0, RecordKind::Write, "0000d:list"),
        record(0, RecordKind::Finished, ""),
        record(1, RecordKind::Finished, ""),
        record(1, RecordKind::Answer, "q"),
    ];
    let new = NewCheckpoint { checkpoint, changes: changes(text), records };
    WriteBatch {
        thread: thread.into(),
        namespace: "".into(),
        origin: format!("origin of {thread}").into(),
        fence: Fence { epoch: 0, head: before },
        epoch: 0,
        status: None,
        awaited: false,
        writes: vec![BatchWrite::Checkpoint(Box::new(new))],
    }
}

/// The changes of each checkpoint of the test threads.
const CHANGES: [&str; 4] =
    ["n=1 list+a twin=1", "list+b list+c list+d", "n=2 list+e other=2", "list+f list+g"];

async fn write(store: &impl Checkpointer, thread: &str) {
    for (number, text) in (1..).zip(CHANGES) {
        store.commit(batch(thread, number, text)).await.unwrap();
    }
}

/// Returns the changes of a checkpoint, fields by name.
async fn read_changes(
    store: &impl Checkpointer,
    thread: &str,
    number: u8,
) -> Result<String, CheckpointError> {
    let mut found = store.get(thread, "", Some(id(number))).await?.found.unwrap();
    found.fields.sort_by(|one, other| one.field.cmp(&other.field));
    let mut words = Vec::new();
    for field in &found.fields {
        for change in &field.changes {
            let sign = if change.kind == ChangeKind::Value { '=' } else { '+' };
            let text = std::str::from_utf8(change.payload.bytes()).unwrap();
            words.push(format!("{}{sign}{text}", field.field));
        }
    }
    Ok(words.join(" "))
}

#[track_caller]
fn corrupt<T: std::fmt::Debug>(what: &str, result: Result<T, CheckpointError>) -> CorruptCheckpoint {
    match result {
        Err(CheckpointError::Corrupt(corrupt)) => *corrupt,
        other => panic!("{what}: {other:?}"),
    }
}
