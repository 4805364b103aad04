use std::sync::Arc;

use super::{CheckpointId, NewCheckpoint, RecordKey, TaskRecord};

/// The epoch and head that a writer expects to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fence {
    /// The epoch of the thread. Each run increases it. It is 0 for a thread that does not exist.
    pub epoch: u64,
    /// The newest checkpoint of the namespace.
    pub head: Option<CheckpointId>,
}

/// Writes of one run that a store makes together.
///
/// A store makes all of them or none. It makes them only if the thread has the epoch `fence.epoch` and the origin
/// `origin`, *and* the namespace has the head `fence.head`. Otherwise it changes nothing and fails with
/// [`Conflict`](super::CheckpointError::Conflict). The check and the writes are one atomic step.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteBatch {
    /// The thread: an arbitrary string.
    pub thread: Arc<str>,
    /// The namespace: an arbitrary string, empty for the root graph.
    pub namespace: Arc<str>,
    /// The origin of the thread. Copies keep it, and encryption binds values to it.
    ///
    /// A new thread takes this origin. A thread with another origin is another thread, and the commit is a conflict.
    pub origin: Arc<str>,
    /// The epoch and head that the store must have.
    pub fence: Fence,
    /// The epoch of the thread after the commit: `fence.epoch` or greater.
    pub epoch: u64,
    /// The writes, in order. An empty list only changes the epoch.
    pub writes: Vec<BatchWrite>,
}

/// One write of a [`WriteBatch`].
#[derive(Clone, Debug, PartialEq)]
pub enum BatchWrite {
    /// Adds a checkpoint, which becomes the head of the namespace.
    ///
    /// Its id must be greater than every id of the namespace, and its parent, if it has one, must exist.
    Checkpoint(Box<NewCheckpoint>),
    /// Changes the records of a checkpoint that exists, or that an earlier write of this batch adds.
    Records {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The records to remove. The store removes them first. A missing record is not an error.
        remove: Vec<RecordKey>,
        /// The records to add. Each replaces the record with the same key.
        put: Vec<TaskRecord>,
    },
}
