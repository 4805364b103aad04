use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use super::Namespace;

/// What a long-term store fails with. Whatever it is, nothing of the call has been written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A node asks for the store of its run, and the run has none.
    #[error(
        "node `{node}` asks for a store, and its graph has none: give it one with `graph.with_store(..)`"
    )]
    NoStore {
        /// The node.
        node: String,
    },

    /// A search by meaning in a store that has no index.
    #[error("the store has no index to search {query} with: give it one with `LongTermStore::new(store).index(..)`", query = query(.prefix))]
    NoIndex {
        /// Where was to be searched.
        prefix: Namespace,
    },

    /// A value that could not be read back as what it is.
    #[error("the value for item `{key}` of namespace {namespace} {reason}")]
    NotStorable {
        /// The namespace.
        namespace: Namespace,
        /// The key.
        key: Arc<str>,
        /// Why not, as what follows on "it".
        reason: String,
    },

    /// Something that is stored cannot be read.
    #[error("{0}")]
    Corrupt(Box<CorruptItem>),

    /// An item that was indexed by another model than the one that is asked: their numbers cannot be compared.
    #[error(
        "item `{key}` of namespace {namespace} was indexed by the model `{indexed}` in {indexed_dimensions} dimensions, and \
         the search is by `{asked}` in {asked_dimensions}: put the item again, or search with that model"
    )]
    OtherModel {
        /// The item's namespace.
        namespace: Namespace,
        /// The item's key.
        key: Arc<str>,
        /// The model that it was indexed by.
        indexed: Arc<str>,
        /// How long the item's vectors are.
        indexed_dimensions: usize,
        /// The model of the search.
        asked: Arc<str>,
        /// How long the vector of the search is.
        asked_dimensions: usize,
    },

    /// The embedding model failed, or gave something that is no embedding.
    #[error("the index cannot embed with the model `{model}`")]
    Embed {
        /// The model.
        model: String,
        /// Why not.
        #[source]
        source: Box<dyn StdError + Send + Sync>,
    },

    /// Something was asked that cannot be.
    #[error("{what}")]
    Invalid {
        /// What is wrong, and what to do.
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
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl StoreError {
    /// A failure of what lies below the store.
    pub fn backend(what: &'static str, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::Backend { what, source: source.into() }
    }

    /// An item that cannot be read.
    pub fn corrupt(namespace: &Namespace, key: &Arc<str>, reason: impl Into<String>) -> Self {
        Self::Corrupt(Box::new(CorruptItem {
            namespace: Some(namespace.clone()),
            key: Some(Arc::clone(key)),
            reason: reason.into(),
        }))
    }

    /// Something was asked that cannot be.
    pub fn invalid(what: impl Into<String>) -> Self {
        Self::Invalid { what: what.into() }
    }
}

fn query(prefix: &Namespace) -> String {
    if prefix.segments().is_empty() { "everything".to_owned() } else { format!("namespace {prefix}") }
}

/// Something stored that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CorruptItem {
    /// The namespace, where it is known.
    pub namespace: Option<Namespace>,
    /// The key, where it is known.
    pub key: Option<Arc<str>>,
    /// Why it cannot be read.
    pub reason: String,
}

impl StdError for CorruptItem {}

impl fmt::Display for CorruptItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.namespace, &self.key) {
            (Some(namespace), Some(key)) => write!(f, "item `{key}` of namespace {namespace}")?,
            (Some(namespace), None) => write!(f, "an item of namespace {namespace}")?,
            (None, Some(key)) => write!(f, "item `{key}`")?,
            (None, None) => f.write_str("what is stored")?,
        }
        write!(f, " cannot be read: {}", self.reason)
    }
}
