use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::error::store_error;

use super::{ItemKey, Namespace, Near};

store_error! {
    /// An error of a long-term store.
    ///
    /// A call that returns an error has written nothing.
    pub enum StoreError {
        noun: "store",
        corrupt: CorruptItem,

        /// A node uses the long-term store, but its graph has none.
        #[error(
            "node `{node}` uses the long-term store, but its graph has none: add one with `graph.with_store(..)`"
        )]
        #[non_exhaustive]
        NoStore {
            /// The node.
            node: String,
        },

        /// A semantic search in a store without an index.
        #[error("the long-term store has no index to search {query}: add one with `LongTermStore::new(store).index(..)`", query = describe(.prefix))]
        #[non_exhaustive]
        NoIndex {
            /// The namespace of the search.
            prefix: Namespace,
        },

        /// A value that could not be read back unchanged, or an item that exceeds one of the [limits](crate::limits).
        #[error("the value for item `{key}` of namespace {namespace} {reason}")]
        #[non_exhaustive]
        NotStorable {
            /// The namespace, possibly shortened.
            namespace: Namespace,
            /// The key, possibly shortened.
            key: Arc<str>,
            /// The reason, as it follows on "the value".
            reason: String,
        },

        /// An item was indexed by another model than that of the search. The vectors of two models cannot be compared.
        #[error(
            "item `{key}` of namespace {namespace} was indexed by model `{indexed}` with {indexed_dimensions} dimensions, but the \
             search uses model `{asked}` with {asked_dimensions}: put the item again, or search with the model of the item"
        )]
        #[non_exhaustive]
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
        #[non_exhaustive]
        Embed {
            /// The model.
            model: String,
            /// The cause.
            #[source]
            source: Box<dyn StdError + Send + Sync>,
        },

        /// An invalid request.
        #[error("{reason}")]
        #[non_exhaustive]
        Invalid {
            /// The problem, and how to fix it.
            reason: String,
        },
    }
}

impl StoreError {
    /// Creates a [`NoStore`](Self::NoStore) error for a node.
    pub fn no_store(node: impl Into<String>) -> Self {
        Self::NoStore { node: node.into() }
    }

    /// Creates a [`NoIndex`](Self::NoIndex) error for a search in a namespace.
    pub fn no_index(prefix: impl Into<Namespace>) -> Self {
        Self::NoIndex { prefix: prefix.into() }
    }

    /// Creates a [`NotStorable`](Self::NotStorable) error for an item. `reason` follows on "the value".
    pub fn not_storable(
        namespace: impl Into<Namespace>,
        key: impl Into<Arc<str>>,
        reason: impl Into<String>,
    ) -> Self {
        Self::NotStorable { namespace: namespace.into(), key: key.into(), reason: reason.into() }
    }

    /// Creates an [`OtherModel`](Self::OtherModel) error for an item and the vector of a search.
    ///
    /// `indexed` is the model of the item, and `dimensions` is the length of its vectors.
    pub fn other_model(at: ItemKey, indexed: impl Into<Arc<str>>, dimensions: usize, near: &Near) -> Self {
        Self::OtherModel {
            namespace: at.namespace,
            key: at.key,
            indexed: indexed.into(),
            indexed_dimensions: dimensions,
            asked: Arc::clone(near.model()),
            asked_dimensions: near.vector().len(),
        }
    }

    /// Creates an [`Embed`](Self::Embed) error for a model.
    pub fn embed(model: impl Into<String>, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Embed { model: model.into(), source: source.into() }
    }

    /// Creates an [`Invalid`](Self::Invalid) error.
    pub fn invalid(reason: impl Into<String>) -> Self {
        Self::Invalid { reason: reason.into() }
    }
}

fn describe(prefix: &Namespace) -> String {
    if prefix.segments().is_empty() { "everything".to_owned() } else { format!("namespace {prefix}") }
}

/// Data of a long-term store that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorruptItem {
    /// The namespace, if it is known.
    pub namespace: Option<Namespace>,
    /// The key, if it is known.
    pub key: Option<Arc<str>>,
    /// The reason.
    pub reason: String,
}

impl CorruptItem {
    /// Creates an error for an item, or for data that belongs to no known item.
    pub fn new(
        namespace: impl Into<Option<Namespace>>,
        key: impl Into<Option<Arc<str>>>,
        reason: impl Into<String>,
    ) -> Self {
        Self { namespace: namespace.into(), key: key.into(), reason: reason.into() }
    }
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
