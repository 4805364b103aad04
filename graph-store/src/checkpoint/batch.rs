use std::sync::Arc;

use super::{CheckpointId, NewCheckpoint, RecordKey, TaskRecord};

/// Where a writer believes a namespace of a thread to stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    /// The thread's epoch, which each run raises; 0 for a thread that does not exist.
    pub epoch: u64,
    /// The newest checkpoint of the namespace.
    pub head: Option<CheckpointId>,
}

/// Writes of one run, to be made all or none.
///
/// A store makes them only if the thread's epoch is `fence.epoch` *and* the namespace's head is `fence.head`; otherwise
/// it changes nothing and fails with [`Conflict`](super::CheckpointError::Conflict). Both are one atomic step.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteBatch {
    /// The thread: any text.
    pub thread: Arc<str>,
    /// The namespace: any text; empty for the graph itself.
    pub namespace: Arc<str>,
    /// The thread's origin, kept by copies of it: what encryption binds to. A thread that does not exist yet takes it on; a
    /// thread of another origin is another thread, hence a conflict.
    pub origin: Arc<str>,
    /// What must be so.
    pub fence: Fence,
    /// The thread's epoch afterwards: `fence.epoch`, or more.
    pub epoch: u64,
    /// The writes, in order. Empty to raise the epoch and nothing else.
    pub writes: Vec<BatchWrite>,
}

/// One write of a [`WriteBatch`].
#[derive(Clone, Debug, PartialEq)]
pub enum BatchWrite {
    /// Adds a checkpoint; it becomes the namespace's head. Its id is greater than every id of the namespace before, and
    /// its parent, if it has one, is there.
    Checkpoint(Box<NewCheckpoint>),
    /// Changes what is known of the tasks of a checkpoint that is there, or that this batch has added before.
    Records {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// Taken away first; what is not there is no error.
        remove: Vec<RecordKey>,
        /// Added; in the place of those of the same key.
        put: Vec<TaskRecord>,
    },
}
