use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::{CheckpointId, Fence};

/// An error of a [`Checkpointer`](super::Checkpointer).
///
/// A call that returns an error has changed nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Another writer has committed to the thread.
    #[error("{0}")]
    Conflict(Box<Conflict>),

    /// Stored data cannot be read.
    #[error("{0}")]
    Corrupt(Box<CorruptCheckpoint>),

    /// A thread with that name already exists.
    #[error("thread `{thread}` already exists: choose another name or delete it first")]
    Exists {
        /// The thread.
        thread: Arc<str>,
    },

    /// The thread does not exist.
    #[error("thread `{thread}` does not exist")]
    NoThread {
        /// The thread.
        thread: Arc<str>,
    },

    /// An invalid write: an id that does not sort after the others, a parent that does not exist, a decreasing epoch.
    #[error("invalid write to thread `{thread}`: {what}")]
    Invalid {
        /// The thread.
        thread: Arc<str>,
        /// The problem.
        what: String,
    },

    /// A newer version of this library has written the store.
    #[error(
        "the store has format {found}, but this program supports formats up to {known}: update the program"
    )]
    NewerFormat {
        /// The format of the store.
        found: u32,
        /// The newest supported format.
        known: u32,
    },

    /// The storage below the store failed: a disk, a database or a network.
    #[error("the store could not {what}")]
    Backend {
        /// The failed action, as it follows on "could not".
        what: &'static str,
        /// The cause.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl CheckpointError {
    /// Creates a [`Backend`](Self::Backend) error. `what` follows on "the store could not".
    pub fn backend(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Backend { what, source: source.into() }
    }
}

/// A commit that another writer has overtaken.
#[derive(Clone, Debug, PartialEq, Eq)]
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
pub struct CorruptCheckpoint {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The checkpoint, if it is known.
    pub checkpoint: Option<CheckpointId>,
    /// The damaged part, for example a field or a record.
    pub what: String,
    /// The reason. It quotes no stored value.
    pub reason: String,
}

impl Error for CorruptCheckpoint {}

impl fmt::Display for CorruptCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of thread `{}`", self.what, self.thread)?;
        if !self.namespace.is_empty() {
            write!(f, ", namespace `{}`", self.namespace)?;
        }
        if let Some(checkpoint) = self.checkpoint {
            write!(f, ", at checkpoint {checkpoint}")?;
        }
        write!(f, ", cannot be read: {}", self.reason)
    }
}
