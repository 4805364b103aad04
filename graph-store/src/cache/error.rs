use std::error::Error as StdError;
use std::fmt;

use super::EntryKey;

/// An error of a [`Cache`](super::Cache).
///
/// A call that returns an error has written nothing. A run does not fail with it: the node runs as if there were no
/// cache, and the event `TaskNotCached` reports the error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A stored entry cannot be read.
    #[error("{0}")]
    Corrupt(Box<CorruptEntry>),

    /// A newer version of this library has written the cache.
    #[error(
        "the cache has format {found}, but this program supports formats up to {known}: update the program"
    )]
    NewerFormat {
        /// The format of the cache.
        found: u32,
        /// The newest supported format.
        known: u32,
    },

    /// The storage below the cache failed: a disk, a database or a network.
    #[error("the cache could not {what}")]
    Backend {
        /// The failed action, as it follows on "could not".
        what: &'static str,
        /// The cause.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl CacheError {
    /// Creates a [`Backend`](Self::Backend) error. `what` follows on "the cache could not".
    pub fn backend(what: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Backend { what, source: source.into() }
    }

    /// Creates a [`Corrupt`](Self::Corrupt) error for an entry.
    pub fn corrupt(at: &EntryKey, reason: impl Into<String>) -> Self {
        Self::Corrupt(Box::new(CorruptEntry { at: at.clone(), reason: reason.into() }))
    }
}

/// A cache entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptEntry {
    /// The key.
    pub at: EntryKey,
    /// The reason.
    pub reason: String,
}

impl StdError for CorruptEntry {}

impl fmt::Display for CorruptEntry {
    /// Leaves out the key, which may have values of excluded fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EntryKey { graph, node, .. } = &self.at;
        write!(f, "a cached result of node `{node}` of graph `{graph}` cannot be read: {}", self.reason)
    }
}
