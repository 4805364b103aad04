use std::error::Error;
use std::fmt;

use crate::error::store_error;

use super::EntryKey;

store_error! {
    /// An error of a [`Cache`](super::Cache).
    ///
    /// A call that returns an error has written nothing. A run does not fail with it: the node runs as if there were no
    /// cache, and the event `TaskNotCached` reports the error.
    pub enum CacheError {
        noun: "cache",
        corrupt: CorruptEntry,

        /// A result that exceeds one of the [limits](crate::limits).
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
    }
}

impl CacheError {
    /// Creates a [`NotStorable`](Self::NotStorable) error for a result of a node of a graph.
    pub fn not_storable(
        graph: impl Into<String>,
        node: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self::NotStorable { graph: graph.into(), node: node.into(), reason: reason.into() }
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

impl Error for CorruptEntry {}

impl fmt::Display for CorruptEntry {
    /// Leaves out the key, which may have values of excluded fields.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let EntryKey { graph, node, .. } = &self.at;
        write!(f, "a cached result of node `{node}` of graph `{graph}` cannot be read: {}", self.reason)
    }
}
