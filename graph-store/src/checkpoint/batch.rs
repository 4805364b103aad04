use std::sync::Arc;

use super::{CheckpointId, NewCheckpoint, RecordKey, StoredStatus, TaskRecord};

/// The epoch and head that a writer expects to find.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fence {
    /// The epoch of the thread. Each run increases it. It is 0 for a thread that does not exist.
    pub epoch: u64,
    /// The newest checkpoint of the namespace.
    pub head: Option<CheckpointId>,
}

impl Fence {
    /// Creates a fence from the epoch of the thread and the head of the namespace.
    pub fn new(epoch: u64, head: impl Into<Option<CheckpointId>>) -> Self {
        Self { epoch, head: head.into() }
    }
}

/// Writes of one run that a store makes together.
///
/// A store makes all of them or none. It makes them only if the thread has the epoch `fence.epoch` and the origin
/// `origin`, *and* the namespace has the head `fence.head`. Otherwise it changes nothing and fails with
/// [`Conflict`](super::CheckpointError::Conflict). The check and the writes are one atomic step.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
    /// The status of the thread after the commit. `None` leaves it as it is.
    ///
    /// It belongs to the thread and not to the namespace, like the epoch. A new thread has
    /// [`StoredStatus::default`] if its first batch carries none.
    pub status: Option<StoredStatus>,
    /// `true` if the writer has nothing else to do until the commit returns.
    ///
    /// A hint, which changes no promise: a store may make a small commit on the writer's thread, instead of waiting until
    /// its own thread is awake.
    pub awaited: bool,
    /// The writes, in order. An empty list only changes the epoch and the status.
    pub writes: Vec<BatchWrite>,
}

impl WriteBatch {
    /// Creates a batch without writes for the root namespace, which keeps the status and the epoch of `fence`.
    pub fn new(thread: impl Into<Arc<str>>, origin: impl Into<Arc<str>>, fence: Fence) -> Self {
        Self {
            thread: thread.into(),
            namespace: Arc::default(),
            origin: origin.into(),
            fence,
            epoch: fence.epoch,
            status: None,
            awaited: false,
            writes: Vec::new(),
        }
    }

    /// Sets the namespace.
    #[must_use]
    #[inline]
    pub fn namespace(mut self, namespace: impl Into<Arc<str>>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets the epoch of the thread after the commit.
    #[must_use]
    #[inline]
    pub fn epoch(mut self, epoch: u64) -> Self {
        self.epoch = epoch;
        self
    }

    /// Sets the status of the thread after the commit.
    #[must_use]
    #[inline]
    pub fn status(mut self, status: impl Into<Option<StoredStatus>>) -> Self {
        self.status = status.into();
        self
    }

    /// Tells the store that the writer has nothing else to do until the commit returns.
    #[must_use]
    #[inline]
    pub fn awaited(mut self, awaited: bool) -> Self {
        self.awaited = awaited;
        self
    }

    /// Sets the writes.
    #[must_use]
    #[inline]
    pub fn writes(mut self, writes: Vec<BatchWrite>) -> Self {
        self.writes = writes;
        self
    }
}

/// One write of a [`WriteBatch`].
// Exhaustive: a store must make every write, so a store that does not know a new kind must not compile.
#[derive(Clone, Debug, PartialEq)]
pub enum BatchWrite {
    /// Adds a checkpoint, which becomes the head of the namespace.
    ///
    /// Its id must be greater than every id of the namespace, and its parent, if it has one, must exist.
    Checkpoint(Box<NewCheckpoint>),
    /// Changes the records of a checkpoint that exists, or that an earlier write of this batch adds.
    #[non_exhaustive]
    Records {
        /// The checkpoint.
        checkpoint: CheckpointId,
        /// The records to remove. The store removes them first. A missing record is not an error.
        remove: Vec<RecordKey>,
        /// The records to add. Each replaces the record with the same key.
        put: Vec<TaskRecord>,
    },
    /// Removes the newest checkpoints of a namespace.
    ///
    /// - The store removes every checkpoint whose id is greater than `to`, on all branches, with its field changes and
    ///   records. All other checkpoints read the same as before.
    /// - `to` must exist and becomes the head. `None` removes all checkpoints.
    /// - It is not an error if there is nothing to remove, or if `to` is `None` and the namespace does not exist.
    /// - Later writes of the batch see the result: a checkpoint after it only has to be greater than the ids that remain.
    #[non_exhaustive]
    RollBack {
        /// The namespace, which may be another one than that of the batch.
        namespace: Arc<str>,
        /// The checkpoint that becomes the head.
        to: Option<CheckpointId>,
    },
}

impl BatchWrite {
    /// Creates a write that adds a checkpoint.
    #[inline]
    pub fn checkpoint(new: NewCheckpoint) -> Self {
        Self::Checkpoint(Box::new(new))
    }

    /// Creates a write that removes and adds records of a checkpoint.
    pub fn records(checkpoint: CheckpointId, remove: Vec<RecordKey>, put: Vec<TaskRecord>) -> Self {
        Self::Records { checkpoint, remove, put }
    }

    /// Creates a write that removes all checkpoints of a namespace after `to`, or all if `to` is `None`.
    pub fn roll_back(namespace: impl Into<Arc<str>>, to: impl Into<Option<CheckpointId>>) -> Self {
        Self::RollBack { namespace: namespace.into(), to: to.into() }
    }
}
