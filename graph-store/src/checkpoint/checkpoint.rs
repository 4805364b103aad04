use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use crate::Metadata;
use crate::payload::Payload;

use super::{CheckpointId, TaskRecord};

/// The kind of operation that made a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CheckpointSource {
    /// An input to a thread.
    Input,
    /// A superstep.
    Loop,
    /// An update by the caller, in place of a node.
    Update,
    /// The first checkpoint of another branch.
    Fork,
}

impl CheckpointSource {
    /// Returns the name: `input`, `loop`, `update` or `fork`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Loop => "loop",
            Self::Update => "update",
            Self::Fork => "fork",
        }
    }

    /// Returns the source with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Input, Self::Loop, Self::Update, Self::Fork].into_iter().find(|source| source.name() == name)
    }
}

/// The data that all checkpoints of one run share. A store keeps it once.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunRecord {
    /// The id of the run, chosen by the caller or generated. It is unique in its thread.
    pub id: Arc<str>,
    /// The program that wrote it, as a string of the engine: graph, fingerprint and versions of the state.
    pub program: Arc<str>,
    /// The keys and values of the caller. They are not encrypted, because queries filter by them.
    pub metadata: Metadata,
}

impl RunRecord {
    /// Creates the data of a run without metadata.
    pub fn new(id: impl Into<Arc<str>>, program: impl Into<Arc<str>>) -> Self {
        Self { id: id.into(), program: program.into(), metadata: Metadata::new() }
    }

    /// Sets the keys and values of the caller.
    #[must_use]
    #[inline]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// Returns `true` if the run has all of these keys with exactly these values.
    pub(super) fn has_metadata(&self, wanted: &Metadata) -> bool {
        // `Value` compares strictly: an integer never equals a float.
        wanted.iter().all(|(key, value)| self.metadata.get(key) == Some(value))
    }
}

/// A checkpoint, without the values of fields.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The id. It is greater than every earlier id of the same thread and namespace.
    pub id: CheckpointId,
    /// The id of the checkpoint that this one follows. Pruning may have dropped that checkpoint.
    pub parent: Option<CheckpointId>,
    /// The step number: −1, 0, 1, …, counted on from the parent.
    pub step: i64,
    /// The kind of operation that made it.
    pub source: CheckpointSource,
    /// The run that made it.
    pub run: Arc<RunRecord>,
    /// The creation time by the clock of the writer, to the millisecond.
    pub created_at: SystemTime,
    /// The planned nodes, one name per task. It is `START` while an input waits to be applied.
    pub next: Vec<Arc<str>>,
    /// Further data that planning depends on, in a format of the engine. Often `None`.
    pub progress: Option<Payload>,
}

impl Checkpoint {
    /// Creates a checkpoint without a parent, planned nodes and progress.
    #[inline]
    pub fn new(
        id: CheckpointId,
        step: i64,
        source: CheckpointSource,
        run: impl Into<Arc<RunRecord>>,
        created_at: SystemTime,
    ) -> Self {
        Self { id, parent: None, step, source, run: run.into(), created_at, next: Vec::new(), progress: None }
    }

    /// Sets the id of the checkpoint that this one follows.
    #[must_use]
    #[inline]
    pub fn parent(mut self, parent: impl Into<Option<CheckpointId>>) -> Self {
        self.parent = parent.into();
        self
    }

    /// Sets the planned nodes.
    #[must_use]
    #[inline]
    pub fn next(mut self, next: Vec<Arc<str>>) -> Self {
        self.next = next;
        self
    }

    /// Sets the further data that planning depends on.
    #[must_use]
    #[inline]
    pub fn progress(mut self, progress: impl Into<Option<Payload>>) -> Self {
        self.progress = progress.into();
        self
    }
}

/// The kind of a field change: a whole value or a delta.
// Exhaustive: a change either replaces the previous value or extends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// A whole value. It replaces all earlier changes of the field.
    Value,
    /// A delta, which the reducer folds into the previous value.
    Delta,
}

/// A value or a delta of one field, written by one checkpoint.
///
/// A checkpoint may have several changes of a field. A store keeps them in order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldChange {
    /// The stored name of the field: an arbitrary string.
    pub field: Cow<'static, str>,
    /// A whole value or a delta.
    pub kind: ChangeKind,
    /// The value or delta.
    pub payload: Payload,
}

impl FieldChange {
    /// Creates a change of the field with this stored name.
    #[inline]
    pub fn new(field: impl Into<Cow<'static, str>>, kind: ChangeKind, payload: Payload) -> Self {
        Self { field: field.into(), kind, payload }
    }
}

/// A checkpoint to add, with its changes and records.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The changes of fields, in the order in which they were applied.
    pub changes: Vec<FieldChange>,
    /// The first records of its tasks.
    pub records: Vec<TaskRecord>,
}

impl NewCheckpoint {
    /// Creates a checkpoint to add, without changes and records.
    #[inline]
    pub fn new(checkpoint: Checkpoint) -> Self {
        Self { checkpoint, changes: Vec::new(), records: Vec::new() }
    }

    /// Sets the changes of fields.
    #[must_use]
    #[inline]
    pub fn changes(mut self, changes: Vec<FieldChange>) -> Self {
        self.changes = changes;
        self
    }

    /// Sets the first records of its tasks.
    #[must_use]
    #[inline]
    pub fn records(mut self, records: Vec<TaskRecord>) -> Self {
        self.records = records;
        self
    }
}

/// A checkpoint with everything that a run needs to continue from it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StoredCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Every field that this checkpoint or one of its ancestors has written, in no particular order.
    pub fields: Vec<StoredField>,
    /// The records of its tasks, ordered by task, kind and key.
    pub records: Vec<TaskRecord>,
}

impl StoredCheckpoint {
    /// Creates a checkpoint with its fields and records, as a store returns it.
    pub fn new(checkpoint: Checkpoint, fields: Vec<StoredField>, records: Vec<TaskRecord>) -> Self {
        Self { checkpoint, fields, records }
    }
}

/// The changes that make up the value of a field at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredField {
    /// The stored name of the field.
    pub field: String,
    /// The last whole value on the path from the first checkpoint to this one, and every delta after it, oldest first.
    /// If the path has no whole value, every delta on it.
    pub changes: Vec<StoredChange>,
}

impl StoredField {
    /// Creates a field from its stored name and its changes.
    pub fn new(field: impl Into<String>, changes: Vec<StoredChange>) -> Self {
        Self { field: field.into(), changes }
    }
}

/// A change of a field, as read from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredChange {
    /// The checkpoint that wrote the change. It may have been pruned.
    pub checkpoint: CheckpointId,
    /// A whole value or a delta.
    pub kind: ChangeKind,
    /// The value or delta.
    pub payload: Payload,
}

impl StoredChange {
    /// Creates a change that `checkpoint` wrote.
    pub fn new(checkpoint: CheckpointId, kind: ChangeKind, payload: Payload) -> Self {
        Self { checkpoint, kind, payload }
    }
}
