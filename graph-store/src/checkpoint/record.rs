use std::sync::Arc;

use crate::payload::Payload;

use super::CheckpointId;

/// The kind of a [`TaskRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum RecordKind {
    /// A write of a finished task. The key has the position of the write and the field.
    Write,
    /// A finished task, with the exit by which it left its node.
    Finished,
    /// The last failure of a task, with the number of attempts.
    Failed,
    /// An interrupt: a question that a task has asked.
    Interrupt,
    /// The answer to the interrupt with the same key.
    Answer,
    /// The result of a durable step of a task. The key is the key of the step.
    Step,
    /// An update that the caller passed on resume. It is applied before the updates of the tasks.
    Patch,
    /// A node that the caller added to the superstep on resume.
    Goto,
    /// A stop at the breakpoints of this checkpoint, reached or requested.
    Breakpoint,
    /// A stop of a run that could have continued, with the reason.
    Stopped,
    /// The end time of a durable sleep of a task. The key identifies the sleep.
    Sleep,
    /// Another checkpoint of the thread that this one depends on: see [`RecordKey::retaining`].
    Retained,
    /// A request from outside that this checkpoint has accepted. The key is the idempotency key of the caller.
    ///
    /// [`CheckpointQuery::request`](super::CheckpointQuery::request) finds it. Its task is [`RecordKey::NO_TASK`].
    Request,
}

impl RecordKind {
    /// All kinds.
    pub const ALL: [Self; 13] = [
        Self::Write,
        Self::Finished,
        Self::Failed,
        Self::Interrupt,
        Self::Answer,
        Self::Step,
        Self::Patch,
        Self::Goto,
        Self::Breakpoint,
        Self::Stopped,
        Self::Sleep,
        Self::Retained,
        Self::Request,
    ];

    /// Returns the number that a store keeps. It never changes.
    pub const fn code(self) -> u8 {
        match self {
            Self::Write => 0,
            Self::Finished => 1,
            Self::Failed => 2,
            Self::Interrupt => 3,
            Self::Answer => 4,
            Self::Step => 5,
            Self::Patch => 6,
            Self::Goto => 7,
            Self::Breakpoint => 8,
            Self::Stopped => 9,
            Self::Sleep => 10,
            Self::Retained => 11,
            Self::Request => 12,
        }
    }

    /// Returns the kind with this number, or `None` if the number is unknown to this version.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// The key of a record at its checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct RecordKey {
    /// The position of the task in its superstep, or [`RecordKey::NO_TASK`] for a record of the whole superstep.
    pub task: u32,
    /// The kind.
    pub kind: RecordKind,
    /// Distinguishes records of the same kind and task: an arbitrary string.
    pub key: Arc<str>,
}

impl RecordKey {
    /// The task number of records that belong to no single task.
    pub const NO_TASK: u32 = u32::MAX;

    /// Creates a key from the position of the task, the kind and a string that distinguishes records of the same kind.
    pub fn new(task: u32, kind: RecordKind, key: impl Into<Arc<str>>) -> Self {
        Self { task, kind, key: key.into() }
    }

    /// Returns the key of a record by which a checkpoint retains another checkpoint of its thread.
    ///
    /// Pruning keeps the other checkpoint as long as the checkpoint with the record exists. The other checkpoint
    /// belongs to the same namespace, or to a namespace with a shorter name. The key is its id, a space, and its
    /// namespace.
    pub fn retaining(checkpoint: CheckpointId, namespace: &str) -> Self {
        Self {
            task: Self::NO_TASK,
            kind: RecordKind::Retained,
            key: format!("{checkpoint} {namespace}").into(),
        }
    }

    /// Returns the retained checkpoint and its namespace, if this is a [`Retained`](RecordKind::Retained) key.
    pub fn retained(&self) -> Option<(CheckpointId, &str)> {
        let (id, namespace) = self.key.split_once(' ').filter(|_| self.kind == RecordKind::Retained)?;
        Some((id.parse().ok()?, namespace))
    }
}

/// A record of a task that a checkpoint has planned.
///
/// A checkpoint has at most one record for each [`RecordKey`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskRecord {
    /// The key.
    pub key: RecordKey,
    /// The content.
    pub payload: Payload,
}

impl TaskRecord {
    /// Creates a record from its key and its content.
    pub fn new(key: RecordKey, payload: Payload) -> Self {
        Self { key, payload }
    }
}
