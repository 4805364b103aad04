use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use crate::Metadata;
use crate::payload::Payload;

use super::{CheckpointId, TaskRecord};

/// What made a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CheckpointSource {
    /// An input that was given to a thread.
    Input,
    /// A superstep.
    Loop,
    /// An update from outside, in the place of a node.
    Update,
    /// The beginning of another branch.
    Fork,
}

impl CheckpointSource {
    /// The word for it: `input`, `loop`, `update` or `fork`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Loop => "loop",
            Self::Update => "update",
            Self::Fork => "fork",
        }
    }

    /// The source of a word.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Input, Self::Loop, Self::Update, Self::Fork].into_iter().find(|source| source.name() == name)
    }
}

/// What all checkpoints of one run have in common; a store keeps it once.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The run's id, the caller's or a made one; unique in its thread.
    pub id: Arc<str>,
    /// What wrote it, as the engine's own text: graph, fingerprint, versions of the state.
    pub program: Arc<str>,
    /// The caller's own keys and values. Not sealed by encryption: they are what is searched for.
    pub metadata: Metadata,
}

/// A checkpoint, without the values of fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    /// Its id; greater than every other of its thread and namespace before it.
    pub id: CheckpointId,
    /// The checkpoint that it follows. After pruning there may be none of that id any more.
    pub parent: Option<CheckpointId>,
    /// −1, 0, 1, … on from the parent's.
    pub step: i64,
    /// What made it.
    pub source: CheckpointSource,
    /// The run that made it.
    pub run: Arc<RunRecord>,
    /// When it was made, by the clock of who made it, to the millisecond.
    pub created_at: SystemTime,
    /// The nodes that are planned, a name for each task; `START` while an input waits to be applied.
    pub next: Vec<Arc<str>>,
    /// The rest of what planning depends on, in the engine's own form; often nothing.
    pub progress: Option<Payload>,
}

/// Whether a piece of a field is a whole value or something to fold into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The whole value: whatever came before does not matter any more.
    Value,
    /// To be folded into the value so far.
    Delta,
}

/// What one checkpoint says of one field. A checkpoint may hold several of a field: they are kept in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange {
    /// The field's stored name: any text.
    pub field: Cow<'static, str>,
    /// A whole value or a delta.
    pub kind: ChangeKind,
    /// The value or delta.
    pub payload: Payload,
}

/// A checkpoint to be added, with everything that comes into being together with it.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// What it changed, in the order in which it was applied.
    pub changes: Vec<FieldChange>,
    /// What is known of its tasks already.
    pub records: Vec<TaskRecord>,
}

/// A checkpoint with all that is needed to go on from it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCheckpoint {
    /// The checkpoint.
    pub checkpoint: Checkpoint,
    /// Every field that this checkpoint or one of its ancestors has written, in no particular order.
    pub fields: Vec<StoredField>,
    /// What is known of its tasks, ordered by task, kind and key.
    pub records: Vec<TaskRecord>,
}

/// The pieces that make a field's value at a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredField {
    /// The field's stored name.
    pub field: String,
    /// The last whole value on the way from the beginning to the checkpoint, and every delta since, oldest first.
    /// Without a whole value, every delta there is.
    pub changes: Vec<StoredChange>,
}

/// A piece as it is read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    /// The checkpoint that wrote it; it may have been pruned.
    pub checkpoint: CheckpointId,
    /// A whole value or a delta.
    pub kind: ChangeKind,
    /// The value or delta.
    pub payload: Payload,
}
