//! The requests to a [`Cache`](super::Cache).

use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;
use crate::store::Ttl;

/// The key of a cached result. Two keys that differ in one part are different entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey {
    /// The graph.
    pub graph: Arc<str>,
    /// The node.
    pub node: Arc<str>,
    /// The state type and its version. Results of another type or version do not match.
    pub state: Arc<str>,
    /// The result of the key function of the node, as a string.
    pub key: Arc<str>,
}

/// A result to put into a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// The key.
    pub at: EntryKey,
    /// The result.
    pub value: Payload,
    /// The time to live. `None` means that the entry does not expire.
    pub ttl: Option<Ttl>,
}

/// The entries that [`clear`](super::Cache::clear) removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clear {
    /// All entries.
    All,
    /// The entries of all nodes of a graph.
    OfGraph(Arc<str>),
    /// The entries of one node.
    OfNode {
        /// The graph of the node.
        graph: Arc<str>,
        /// The node.
        node: Arc<str>,
    },
    /// The expired entries.
    Expired {
        /// The current time.
        now: SystemTime,
    },
}

impl Clear {
    /// Returns `true` if this selects the entry with the given key by its name.
    ///
    /// Returns `false` for [`Expired`](Self::Expired), which selects by time.
    pub fn covers(&self, at: &EntryKey) -> bool {
        match self {
            Self::All => true,
            Self::OfGraph(graph) => at.graph == *graph,
            Self::OfNode { graph, node } => at.graph == *graph && at.node == *node,
            Self::Expired { .. } => false,
        }
    }
}
