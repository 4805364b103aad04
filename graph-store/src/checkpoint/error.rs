use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::{CheckpointId, Fence};

/// What a [`Checkpointer`](super::Checkpointer) fails with. Whatever it is, nothing of the call has been done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// Somebody else has written to the thread meanwhile.
    #[error("{0}")]
    Conflict(Box<Conflict>),

    /// Something that is stored cannot be read.
    #[error("{0}")]
    Corrupt(Box<CorruptCheckpoint>),

    /// A thread of that name is there already.
    #[error("thread `{thread}` is there already")]
    Exists {
        /// The thread.
        thread: Arc<str>,
    },

    /// There is no such thread.
    #[error("there is no thread `{thread}`")]
    NoThread {
        /// The thread.
        thread: Arc<str>,
    },

    /// A write that no store may accept: an id that does not sort behind the others, a parent that is not there.
    #[error("{what} in thread `{thread}`")]
    Invalid {
        /// The thread.
        thread: Arc<str>,
        /// What is wrong.
        what: String,
    },

    /// The store was written by a newer version of this software.
    #[error(
        "the store has format {found}, this program knows formats up to {known}: use a newer version of it"
    )]
    NewerFormat {
        /// The store's format.
        found: u32,
        /// The newest format that is known here.
        known: u32,
    },

    /// What lies below the store failed: a disk, a database, a network.
    #[error("the store could not {what}")]
    Backend {
        /// What was being done.
        what: &'static str,
        /// Why it failed.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl CheckpointError {
    /// A failure of what lies below the store.
    pub fn backend(what: &'static str, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Backend { what, source: source.into() }
    }
}

/// A writer that was overtaken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// Where the writer believed it to stand.
    pub expected: Fence,
    /// Where it stands.
    pub found: Fence,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "thread `{}` was written by somebody else: expected ", self.thread)?;
        at(&self.expected, f)?;
        f.write_str(", found ")?;
        at(&self.found, f)
    }
}

fn at(fence: &Fence, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match fence.head {
        Some(head) => write!(f, "checkpoint {head} in epoch {}", fence.epoch),
        None => write!(f, "no checkpoint in epoch {}", fence.epoch),
    }
}

/// Something stored that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptCheckpoint {
    /// The thread.
    pub thread: Arc<str>,
    /// The namespace.
    pub namespace: Arc<str>,
    /// The checkpoint, where it is known.
    pub checkpoint: Option<CheckpointId>,
    /// The field, or which record.
    pub what: String,
    /// Why it cannot be read. It quotes no stored value.
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
