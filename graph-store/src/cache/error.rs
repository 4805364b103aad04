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

    /// A result that exceeds a [limit](crate::limits).
    #[error("the result of node `{node}` of graph `{graph}` cannot be cached: {reason}")]
    #[non_exhaustive]
    NotStorable {
        /// The graph, possibly shortened.
        graph: String,
        /// The node, possibly shortened.
        node: String,
        /// The part that exceeds a limit, and the limit.
        reason: String,
    },

    /// A newer version of this library has written the cache.
    #[error(
        "the cache has format {found}, but this program supports formats up to {known}: update the program"
    )]
    #[non_exhaustive]
    NewerFormat {
        /// The format of the cache.
        found: u32,
        /// The newest supported format.
        known: u32,
    },

    /// The storage below the cache failed: a disk, a database or a network.
    #[error("the cache could not {operation}")]
    #[non_exhaustive]
    Backend {
        /// The failed operation, as it follows on "could not".
        operation: &'static str,
        /// The cause.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl CacheError {
    /// Creates a [`Backend`](Self::Backend) error. `operation` follows on "the cache could not".
    pub fn backend(operation: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Backend { operation, source: source.into() }
    }

    /// Creates a [`NotStorable`](Self::NotStorable) error for a result of a node of a graph.
    pub fn not_storable(
        graph: impl Into<String>,
        node: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::NotStorable { graph: graph.into(), node: node.into(), reason: reason.into() }
    }

    /// Creates a [`Corrupt`](Self::Corrupt) error for an entry.
    pub fn corrupt(at: &EntryKey, reason: impl Into<String>) -> Self {
        CorruptEntry::new(at.clone(), reason).into()
    }

    /// Creates a [`NewerFormat`](Self::NewerFormat) error from the format of the cache and the newest supported format.
    pub const fn newer_format(found: u32, known: u32) -> Self {
        Self::NewerFormat { found, known }
    }
}

impl From<CorruptEntry> for CacheError {
    fn from(corrupt: CorruptEntry) -> Self {
        Self::Corrupt(Box::new(corrupt))
    }
}

/// A cache entry that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorruptEntry {
    /// The key.
    pub at: EntryKey,
    /// The reason.
    pub reason: String,
}

impl CorruptEntry {
    /// Creates an error for the entry with this key.
    pub fn new(at: EntryKey, reason: impl Into<String>) -> Self {
        Self { at, reason: reason.into() }
    }
}

impl StdError for CorruptEntry {}

impl fmt::Display for CorruptEntry {
    /// Leaves out the key, which may have values of excluded fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EntryKey { graph, node, .. } = &self.at;
        write!(f, "a cached result of node `{node}` of graph `{graph}` cannot be read: {}", self.reason)
    }
}
