use std::error::Error;
use std::fmt;
use std::sync::Arc;

use crate::error::store_error;

use super::{CheckpointId, Fence};

store_error! {
    /// An error of a [`Checkpointer`](super::Checkpointer).
    ///
    /// A call that returns an error has changed nothing.
    pub enum CheckpointError {
        noun: "store",
        corrupt: CorruptCheckpoint,

        /// Another writer has committed to the thread.
        #[error("{0}")]
        Conflict(Box<Conflict>),

        /// A thread with that name already exists.
        #[error("thread `{thread}` already exists: choose another name or delete it first")]
        #[non_exhaustive]
        Exists {
            /// The thread.
            thread: Arc<str>,
        },

        /// The thread does not exist.
        #[error("thread `{thread}` does not exist")]
        #[non_exhaustive]
        NoThread {
            /// The thread.
            thread: Arc<str>,
        },

        /// An invalid write: an id that does not sort after the others, a parent that does not exist, or a decreasing
        /// epoch.
        #[error("invalid write to thread `{thread}`: {reason}")]
        #[non_exhaustive]
        Invalid {
            /// The thread.
            thread: Arc<str>,
            /// The reason.
            reason: String,
        },

        /// A write that exceeds one of the [limits](crate::limits).
        #[error("the write to thread `{thread}` cannot be stored: {reason}")]
        #[non_exhaustive]
        NotStorable {
            /// The thread, possibly shortened.
            thread: Arc<str>,
            /// The part that exceeds a limit, and the limit.
            reason: String,
        },
    }
}

impl CheckpointError {
    /// Creates a [`Conflict`](Self::Conflict) error.
    pub fn conflict(conflict: Conflict) -> Self {
        Self::Conflict(Box::new(conflict))
    }

    /// Creates an [`Exists`](Self::Exists) error for a thread.
    pub fn exists(thread: impl Into<Arc<str>>) -> Self {
        Self::Exists { thread: thread.into() }
    }

    /// Creates a [`NoThread`](Self::NoThread) error for a thread.
    pub fn no_thread(thread: impl Into<Arc<str>>) -> Self {
        Self::NoThread { thread: thread.into() }
    }

    /// Creates an [`Invalid`](Self::Invalid) error for a write to a thread.
    pub fn invalid(thread: impl Into<Arc<str>>, reason: impl Into<String>) -> Self {
        Self::Invalid { thread: thread.into(), reason: reason.into() }
    }

    /// Creates a [`NotStorable`](Self::NotStorable) error for a write to a thread.
    pub fn not_storable(thread: impl Into<Arc<str>>, reason: impl Into<String>) -> Self {
        Self::NotStorable { thread: thread.into(), reason: reason.into() }
    }
}

/// A commit that another writer has overtaken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conflict {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The epoch and head that the writer expected.
    pub expected: Fence,
    /// The epoch and head in the store.
    pub found: Fence,
}

impl Conflict {
    /// Creates a conflict from the expected and the found epoch and head.
    pub fn new(
        thread: impl Into<Arc<str>>,
        namespace: impl Into<Arc<str>>,
        expected: Fence,
        found: Fence,
    ) -> Self {
        Self { thread: thread.into(), namespace: namespace.into(), expected, found }
    }

    /// Creates the conflict of a call that names the epoch of a thread and no head. `found` is the fence of the root
    /// namespace.
    pub fn of_epoch(thread: impl Into<Arc<str>>, expected: u64, found: Fence) -> Self {
        Self::new(thread, "", Fence { epoch: expected, ..found }, found)
    }
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "another writer has committed to thread `{}`: expected ", self.thread)?;
        write_fence(&self.expected, f)?;
        f.write_str(", found ")?;
        write_fence(&self.found, f)
    }
}

fn write_fence(fence: &Fence, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match fence.head {
        Some(head) => write!(f, "checkpoint {head} in epoch {}", fence.epoch),
        None => write!(f, "no checkpoint in epoch {}", fence.epoch),
    }
}

/// Stored data of a thread that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorruptCheckpoint {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The checkpoint, if it is known.
    pub checkpoint: Option<CheckpointId>,
    /// The damaged part, for example a field or a record.
    pub part: String,
    /// The reason. For a field that is not excluded from dumps, it may quote the stored value.
    pub reason: String,
}

impl CorruptCheckpoint {
    /// Creates an error for a damaged part of a namespace, or of one of its checkpoints.
    pub fn new(
        thread: impl Into<Arc<str>>,
        namespace: impl Into<Arc<str>>,
        checkpoint: impl Into<Option<CheckpointId>>,
        part: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            thread: thread.into(),
            namespace: namespace.into(),
            checkpoint: checkpoint.into(),
            part: part.into(),
            reason: reason.into(),
        }
    }
}

impl Error for CorruptCheckpoint {}

impl fmt::Display for CorruptCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of thread `{}`", self.part, self.thread)?;
        if !self.namespace.is_empty() {
            write!(f, ", namespace `{}`", self.namespace)?;
        }
        if let Some(checkpoint) = self.checkpoint {
            write!(f, ", at checkpoint {checkpoint}")?;
        }
        write!(f, ", cannot be read: {}", self.reason)
    }
}
