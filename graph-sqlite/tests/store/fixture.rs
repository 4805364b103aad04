//! The file, writer and step builders that the tests share.

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, UNIX_EPOCH};

use superstep_sqlite::{SqliteCheckpointer, Synchronous};
use superstep_store::checkpoint::{
    BatchWrite, ChangeKind, Checkpoint, CheckpointError, CheckpointId, CheckpointQuery, CheckpointSource,
    Checkpointer as _, Fence, FieldChange, Loaded, NewCheckpoint, RecordKey, RecordKind, RunRecord,
    TaskRecord, WriteBatch,
};
use superstep_store::payload::Payload;
use tempfile::TempDir;

/// Blocks on a future without a runtime.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Polls a future once.
pub(crate) fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

pub(crate) struct File {
    folder: TempDir,
}

impl File {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("threads.db")
    }

    /// Opens with `Normal`, which does not wait for the disk: the tests do not depend on that.
    pub(crate) fn open(&self) -> SqliteCheckpointer {
        SqliteCheckpointer::options().synchronous(Synchronous::Normal).readers(2).open(self.path()).unwrap()
    }

    pub(crate) fn try_open(&self) -> Result<SqliteCheckpointer, CheckpointError> {
        SqliteCheckpointer::open(self.path())
    }

    pub(crate) fn sql(&self) -> rusqlite::Connection {
        let db = rusqlite::Connection::open(self.path()).unwrap();
        db.busy_timeout(Duration::from_secs(5)).unwrap();
        db
    }

    /// Returns the file's size after a WAL checkpoint.
    pub(crate) fn size(&self) -> u64 {
        let busy: i64 =
            self.sql().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
        assert_eq!(busy, 0);
        std::fs::metadata(self.path()).unwrap().len()
    }
}

pub(crate) fn run() -> Arc<RunRecord> {
    Arc::new(RunRecord::new("r1", "p1"))
}

/// The writes of one superstep.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) parent: Option<CheckpointId>,
    pub(crate) changes: Vec<FieldChange>,
    pub(crate) records: Vec<TaskRecord>,
    pub(crate) made: u64,
}

pub(crate) fn step() -> Step {
    Step { parent: None, changes: vec![], records: vec![], made: 0 }
}

impl Step {
    pub(crate) fn after(mut self, parent: CheckpointId) -> Self {
        self.parent = Some(parent);
        self
    }

    pub(crate) fn value(mut self, field: &'static str, text: &str) -> Self {
        self.changes.push(change(field, ChangeKind::Value, text));
        self
    }

    pub(crate) fn delta(mut self, field: &'static str, text: &str) -> Self {
        self.changes.push(change(field, ChangeKind::Delta, text));
        self
    }

    pub(crate) fn record(mut self, kind: RecordKind, key: &str) -> Self {
        self.records.push(TaskRecord::new(RecordKey::new(0, kind, key), Payload::json("1")));
        self
    }

    /// Sets the creation time in milliseconds after 1970.
    pub(crate) fn made(mut self, millis: u64) -> Self {
        self.made = millis;
        self
    }

    pub(crate) fn batch(self, thread: &str, fence: Fence) -> (CheckpointId, WriteBatch) {
        let id = CheckpointId::after(fence.head);
        let created_at = UNIX_EPOCH + Duration::from_millis(self.made);
        let checkpoint = Checkpoint::new(id, 0, CheckpointSource::Loop, run(), created_at)
            .parent(self.parent)
            .next(vec!["a".into()]);
        let new = NewCheckpoint::new(checkpoint).changes(self.changes).records(self.records);
        (id, batch(thread, fence, vec![BatchWrite::checkpoint(new)]))
    }
}

pub(crate) fn batch(thread: &str, fence: Fence, writes: Vec<BatchWrite>) -> WriteBatch {
    WriteBatch::new(thread, "o1", fence).writes(writes)
}

fn change(field: &'static str, kind: ChangeKind, text: &str) -> FieldChange {
    FieldChange::new(field, kind, Payload::json(text))
}

/// A thread to write to, with its current fence.
pub(crate) struct Writer<'s> {
    pub(crate) store: &'s SqliteCheckpointer,
    pub(crate) thread: &'s str,
    pub(crate) fence: Fence,
}

pub(crate) fn writer<'s>(store: &'s SqliteCheckpointer, thread: &'s str) -> Writer<'s> {
    let fence = wait(store.get(thread, "", None)).unwrap().fence;
    Writer { store, thread, fence }
}

impl Writer<'_> {
    pub(crate) fn try_add(&mut self, step: Step) -> Result<CheckpointId, CheckpointError> {
        let (id, batch) = step.batch(self.thread, self.fence);
        wait(self.store.commit(batch.awaited(true)))?;
        self.fence.head = Some(id);
        Ok(id)
    }

    pub(crate) fn add(&mut self, step: Step) -> CheckpointId {
        self.try_add(step).unwrap()
    }

    /// Adds a step after the newest checkpoint.
    pub(crate) fn then(&mut self, mut step: Step) -> CheckpointId {
        step.parent = self.fence.head;
        self.add(step)
    }

    pub(crate) fn load(&self, id: CheckpointId) -> Loaded {
        wait(self.store.get(self.thread, "", Some(id))).unwrap()
    }

    /// Returns a field's changes at a checkpoint: `=` before a value, `+` before a delta.
    pub(crate) fn field(&self, id: CheckpointId, field: &str) -> String {
        let found = self.load(id).found.expect("the checkpoint exists");
        let Some(field) = found.fields.into_iter().find(|found| found.field == field) else {
            return String::new();
        };
        let changes: Vec<String> = field
            .changes
            .iter()
            .map(|change| {
                let sign = if change.kind == ChangeKind::Value { '=' } else { '+' };
                format!("{sign}{}", String::from_utf8_lossy(change.payload.bytes()))
            })
            .collect();
        changes.join(" ")
    }

    pub(crate) fn ids(&self) -> Vec<CheckpointId> {
        let query = CheckpointQuery::new(self.thread);
        let mut ids: Vec<_> =
            wait(self.store.list(query)).unwrap().items.iter().map(|checkpoint| checkpoint.id).collect();
        ids.reverse();
        ids
    }
}
