use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::Namespace;

/// An error of a long-term store.
///
/// A call that returns an error has written nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A node uses the long-term store, but its graph has none.
    #[error(
        "node `{node}` uses the long-term store, but its graph has none: add one with `graph.with_store(..)`"
    )]
    NoStore {
        /// The node.
        node: String,
    },

    /// A semantic search in a store without an index.
    #[error("the long-term store has no index to search {query}: add one with `LongTermStore::new(store).index(..)`", query = describe(.prefix))]
    NoIndex {
        /// The namespace of the search.
        prefix: Namespace,
    },

    /// A value that could not be read back unchanged.
    #[error("the value for item `{key}` of namespace {namespace} {reason}")]
    NotStorable {
        /// The namespace.
        namespace: Namespace,
        /// The key.
        key: Arc<str>,
        /// The reason, as it follows on "the value".
        reason: String,
    },

    /// Stored data cannot be read.
    #[error("{0}")]
    Corrupt(Box<CorruptItem>),

    /// An item was indexed by another model than that of the search. The vectors of two models cannot be compared.
    #[error(
        "item `{key}` of namespace {namespace} was indexed by model `{indexed}` with {indexed_dimensions} dimensions, but the \
         search uses model `{asked}` with {asked_dimensions}: put the item again, or search with the model of the item"
    )]
    OtherModel {
        /// The namespace of the item.
        namespace: Namespace,
        /// The key of the item.
        key: Arc<str>,
        /// The model that indexed the item.
        indexed: Arc<str>,
        /// The length of the vectors of the item.
        indexed_dimensions: usize,
        /// The model of the search.
        asked: Arc<str>,
        /// The length of the vector of the search.
        asked_dimensions: usize,
    },

    /// The embedding model failed, or returned an invalid embedding.
    #[error("the embedding model `{model}` failed")]
    Embed {
        /// The model.
        model: String,
        /// The cause.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },

    /// An invalid request.
    #[error("{what}")]
    Invalid {
        /// The problem, and how to fix it.
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
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl StoreError {
    /// Creates a [`Backend`](Self::Backend) error. `what` follows on "the store could not".
    pub fn backend(what: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Backend { what, source: source.into() }
    }

    /// Creates a [`Corrupt`](Self::Corrupt) error for an item.
    pub fn corrupt(namespace: &Namespace, key: &Arc<str>, reason: impl Into<String>) -> Self {
        Self::Corrupt(Box::new(CorruptItem {
            namespace: Some(namespace.clone()),
            key: Some(Arc::clone(key)),
            reason: reason.into(),
        }))
    }

    /// Creates an [`Invalid`](Self::Invalid) error.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }
}

fn describe(prefix: &Namespace) -> String {
    if prefix.segments().is_empty() { "everything".to_owned() } else { format!("namespace {prefix}") }
}

/// Data of a long-term store that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptItem {
    /// The namespace, if it is known.
    pub namespace: Option<Namespace>,
    /// The key, if it is known.
    pub key: Option<Arc<str>>,
    /// The reason.
    pub reason: String,
}

impl StdError for CorruptItem {}

impl fmt::Display for CorruptItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.namespace, &self.key) {
            (Some(namespace), Some(key)) => write!(f, "item `{key}` of namespace {namespace}")?,
            (Some(namespace), None) => write!(f, "an item of namespace {namespace}")?,
            (None, Some(key)) => write!(f, "item `{key}`")?,
            (None, None) => f.write_str("stored data")?,
        }
        write!(f, " cannot be read: {}", self.reason)
    }
}
