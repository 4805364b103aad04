//! What a [`Cache`](super::Cache) is asked.

use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;
use crate::store::Ttl;

/// Under which names a node's result is kept. Two that differ in one of them are two entries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryKey {
    /// The graph.
    pub graph: Arc<str>,
    /// The node.
    pub node: Arc<str>,
    /// The state and its version: results for another one are none.
    pub state: Arc<str>,
    /// What the node's key function has returned, as text.
    pub key: Arc<str>,
}

/// A result to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEntry {
    /// Where.
    pub at: EntryKey,
    /// The result.
    pub value: Payload,
    /// How long it may be used; for ever if it is not said.
    pub ttl: Option<Ttl>,
}

/// Entries that are to be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Clear {
    /// All of them.
    All,
    /// Those of the nodes of a graph.
    OfGraph(Arc<str>),
    /// Those of one node.
    OfNode {
        /// Its graph.
        graph: Arc<str>,
        /// The node.
        node: Arc<str>,
    },
    /// Those whose time is up.
    Expired {
        /// What time it is.
        now: SystemTime,
    },
}

impl Clear {
    /// Whether an entry of this name is among them, apart from when it expires.
    pub fn covers(&self, at: &EntryKey) -> bool {
        match self {
            Self::All => true,
            Self::OfGraph(graph) => at.graph == *graph,
            Self::OfNode { graph, node } => at.graph == *graph && at.node == *node,
            Self::Expired { .. } => false,
        }
    }
}
