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
pub struct RunRecord {
    /// The id of the run, chosen by the caller or generated. It is unique in its thread.
    pub id: Arc<str>,
    /// The program that wrote it, as a string of the engine: graph, fingerprint and versions of the state.
    pub program: Arc<str>,
    /// The keys and values of the caller. They are not encrypted, because queries filter by them.
    pub metadata: Metadata,
}

/// A checkpoint, without the values of fields.
#[derive(Clone, Debug, PartialEq)]
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

/// The kind of a field change: a whole value or a delta.
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
pub struct FieldChange {
    /// The stored name of the field: an arbitrary string.
    pub field: Cow<'static, str>,
    /// A whole value or a delta.
    pub kind: ChangeKind,
    /// The value or delta.
    pub payload: Payload,
}

/// A checkpoint to add, with its changes and records.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// The changes of fields, in the order in which they were applied.
    pub changes: Vec<FieldChange>,
    /// The first records of its tasks.
    pub records: Vec<TaskRecord>,
}

/// A checkpoint with everything that a run needs to continue from it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Every field that this checkpoint or one of its ancestors has written, in no particular order.
    pub fields: Vec<StoredField>,
    /// The records of its tasks, ordered by task, kind and key.
    pub records: Vec<TaskRecord>,
}

/// The changes that make up the value of a field at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredField {
    /// The stored name of the field.
    pub field: String,
    /// The last whole value on the path from the first checkpoint to this one, and every delta after it, oldest first.
    /// If the path has no whole value, every delta on it.
    pub changes: Vec<StoredChange>,
}

/// A change of a field, as read from a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    /// The checkpoint that wrote the change. It may have been pruned.
    pub checkpoint: CheckpointId,
    /// A whole value or a delta.
    pub kind: ChangeKind,
    /// The value or delta.
    pub payload: Payload,
}
