//! The requests to a [`Cache`](super::Cache).

use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;
use crate::store::Ttl;

/// The key of a cached result. Two keys that differ in one part are different entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
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

impl EntryKey {
    /// Creates a key from the graph, the node, the state type with its version, and the key of the node.
    pub fn new(
        graph: impl Into<Arc<str>>,
        node: impl Into<Arc<str>>,
        state: impl Into<Arc<str>>,
        key: impl Into<Arc<str>>,
    ) -> Self {
        Self { graph: graph.into(), node: node.into(), state: state.into(), key: key.into() }
    }
}

/// A result to put into a cache.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewEntry {
    /// The key.
    pub at: EntryKey,
    /// The result.
    pub value: Payload,
    /// The time to live. `None` means that the entry does not expire.
    pub ttl: Option<Ttl>,
}

impl NewEntry {
    /// Creates an entry that does not expire.
    pub fn new(at: EntryKey, value: Payload) -> Self {
        Self { at, value, ttl: None }
    }

    /// Sets the time to live.
    #[must_use]
    pub fn ttl(mut self, ttl: impl Into<Option<Ttl>>) -> Self {
        self.ttl = ttl.into();
        self
    }
}

/// The entries that [`clear`](super::Cache::clear) removes.
///
/// A cache refuses a selection that it does not know, with [`Backend`](super::CacheError::Backend).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Clear {
    /// All entries.
    All,
    /// The entries of all nodes of a graph.
    Graph(Arc<str>),
    /// The entries of one node.
    #[non_exhaustive]
    Node {
        /// The graph of the node.
        graph: Arc<str>,
        /// The node.
        node: Arc<str>,
    },
    /// The expired entries.
    #[non_exhaustive]
    Expired {
        /// The current time.
        now: SystemTime,
    },
}

impl Clear {
    /// Selects the entries of all nodes of a graph.
    pub fn graph(graph: impl Into<Arc<str>>) -> Self {
        Self::Graph(graph.into())
    }

    /// Selects the entries of one node of a graph.
    pub fn node(graph: impl Into<Arc<str>>, node: impl Into<Arc<str>>) -> Self {
        Self::Node { graph: graph.into(), node: node.into() }
    }

    /// Selects the entries that have expired at the time `now`.
    pub const fn expired(now: SystemTime) -> Self {
        Self::Expired { now }
    }

    /// Returns `true` if this selects the entry with the given key by its name.
    ///
    /// Returns `false` for [`Expired`](Self::Expired), which selects by time.
    pub fn covers(&self, at: &EntryKey) -> bool {
        match self {
            Self::All => true,
            Self::Graph(graph) => at.graph == *graph,
            Self::Node { graph, node } => at.graph == *graph && at.node == *node,
            Self::Expired { .. } => false,
        }
    }
}
