//! The requests to a [`Store`](super::Store).

use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::{Encoding, Payload};

use super::{Condition, Embedding, ItemKey, Namespace, Near, Ttl};

/// Items to read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Get {
    /// The current time.
    pub now: SystemTime,
    /// The items.
    pub keys: Vec<ItemKey>,
    /// `true` to restart the time to live of the returned items.
    pub refresh: bool,
}

impl Get {
    /// Creates a read of items that does not restart their time to live.
    pub fn new(now: SystemTime, keys: Vec<ItemKey>) -> Self {
        Self { now, keys, refresh: false }
    }

    /// Restarts the time to live of the returned items, if `refresh` is `true`.
    #[must_use]
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }
}

/// Writes that a store makes together.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ItemWrites {
    /// The current time.
    pub now: SystemTime,
    /// The writes, in order.
    pub writes: Vec<ItemWrite>,
}

impl ItemWrites {
    /// Creates writes at the time `now`.
    pub fn new(now: SystemTime, writes: Vec<ItemWrite>) -> Self {
        Self { now, writes }
    }
}

/// One write to a long-term store.
// Exhaustive: a store must make every write, so a store that does not know a new kind must not compile.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemWrite {
    /// Puts an item. It replaces the existing one.
    Put(Box<Put>),
    /// Deletes an item.
    Delete(ItemKey),
}

/// An item to put. Only `created_at` is kept of the item that it replaces.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Put {
    /// The key.
    pub at: ItemKey,
    /// The value.
    pub value: Payload,
    /// The time to live. `None` means that the item does not expire.
    pub ttl: Option<Ttl>,
    /// The vectors for semantic search. `None` excludes the item from semantic search.
    pub embedding: Option<Embedding>,
}

impl Put {
    /// Creates a put of an item without a time to live and without an embedding.
    pub fn new(at: ItemKey, value: Payload) -> Self {
        Self { at, value, ttl: None, embedding: None }
    }

    /// Sets the time to live.
    #[must_use]
    pub fn ttl(mut self, ttl: impl Into<Option<Ttl>>) -> Self {
        self.ttl = ttl.into();
        self
    }

    /// Sets the vectors for semantic search.
    #[must_use]
    pub fn embedding(mut self, embedding: impl Into<Option<Embedding>>) -> Self {
        self.embedding = embedding.into();
        self
    }
}

impl From<Put> for ItemWrite {
    fn from(put: Put) -> Self {
        Self::Put(Box::new(put))
    }
}

/// A search for items.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Search {
    /// The current time.
    pub now: SystemTime,
    /// The namespace.
    pub namespace: Namespace,
    /// `true` to search the namespaces inside it too.
    pub within: bool,
    /// The conditions. An item is found if it meets all of them.
    pub conditions: Vec<Condition>,
    /// The vector of a semantic search.
    ///
    /// Only items with an embedding are found, nearest first. Equally near items are in the requested order.
    pub near: Option<Near>,
    /// The order of the results.
    pub order: Order,
    /// Only items after this name: in later namespaces, or in its namespace with a greater key.
    ///
    /// In [`Order::Name`], a page after the last item of the page before costs the same wherever it begins. Neither the
    /// name itself nor its namespace has to exist.
    pub after: Option<ItemKey>,
    /// The number of results to skip.
    pub offset: usize,
    /// The maximum number of results.
    pub limit: Option<usize>,
    /// `true` to restart the time to live of the returned items.
    pub refresh: bool,
}

/// The order of search results. It is always the same for the same items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// By namespace, segment by segment, then by key. Strings are compared by their bytes.
    ///
    /// Writing an item again does not change its position. Pages therefore neither repeat nor skip an item that exists
    /// all the time.
    #[default]
    Name,
    /// The most recently written items first. Items of the same millisecond are ordered by name.
    Newest,
}

/// A query for the namespaces that have items, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NamespaceQuery {
    /// The current time.
    pub now: SystemTime,
    /// Only this namespace and the namespaces inside it.
    pub prefix: Namespace,
    /// Only namespaces that end with these segments.
    pub suffix: Namespace,
    /// The maximum number of segments to list. Namespaces that are equal after the cut are listed once.
    pub max_depth: Option<usize>,
    /// The number of results to skip.
    pub offset: usize,
    /// The maximum number of results.
    pub limit: Option<usize>,
}

impl Search {
    /// Creates a search for all items of a namespace and of the namespaces inside it, in the order of names.
    pub fn new(now: SystemTime, namespace: impl Into<Namespace>) -> Self {
        Self {
            now,
            namespace: namespace.into(),
            within: true,
            conditions: Vec::new(),
            near: None,
            order: Order::Name,
            after: None,
            offset: 0,
            limit: None,
            refresh: false,
        }
    }

    /// Searches the namespaces inside the namespace too, if `within` is `true`. That is the default.
    #[must_use]
    pub fn within(mut self, within: bool) -> Self {
        self.within = within;
        self
    }

    /// Sets the conditions. An item is found if it meets all of them.
    #[must_use]
    pub fn conditions(mut self, conditions: Vec<Condition>) -> Self {
        self.conditions = conditions;
        self
    }

    /// Sets the vector of a semantic search.
    #[must_use]
    pub fn near(mut self, near: impl Into<Option<Near>>) -> Self {
        self.near = near.into();
        self
    }

    /// Sets the order of the results.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Returns only items after this name: in later namespaces, or in its namespace with a greater key.
    #[must_use]
    pub fn after(mut self, after: impl Into<Option<ItemKey>>) -> Self {
        self.after = after.into();
        self
    }

    /// Skips the first `offset` results.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Returns at most this many results.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Restarts the time to live of the returned items, if `refresh` is `true`.
    #[must_use]
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.refresh = refresh;
        self
    }

    /// Returns `true` if the search includes items of this namespace.
    pub fn covers(&self, namespace: &Namespace) -> bool {
        if self.within { namespace.is_within(&self.namespace) } else { *namespace == self.namespace }
    }

    /// Returns `true` if a value meets all conditions. A value of bytes has no fields.
    ///
    /// # Errors
    /// The reason, if the value cannot be read.
    pub fn accepts(&self, value: &Payload) -> Result<bool, String> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let json = match value.encoding() {
            Encoding::Json => {
                Some(std::str::from_utf8(value.bytes()).map_err(|_| "it is not UTF-8".to_owned())?)
            }
            Encoding::Bytes => None,
            Encoding::Sealed => return Err("it is encrypted, so its fields cannot be searched".to_owned()),
        };
        for condition in &self.conditions {
            if !condition.holds(json)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl NamespaceQuery {
    /// Creates a query for all namespaces.
    pub fn new(now: SystemTime) -> Self {
        let root = Namespace::root;
        Self { now, prefix: root(), suffix: root(), max_depth: None, offset: 0, limit: None }
    }

    /// Lists only this namespace and the namespaces inside it.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<Namespace>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Lists only namespaces that end with these segments.
    #[must_use]
    pub fn suffix(mut self, suffix: impl Into<Namespace>) -> Self {
        self.suffix = suffix.into();
        self
    }

    /// Lists at most this many segments of each namespace. Namespaces that are equal after the cut are listed once.
    #[must_use]
    pub fn max_depth(mut self, segments: impl Into<Option<usize>>) -> Self {
        self.max_depth = segments.into();
        self
    }

    /// Skips the first `offset` namespaces.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// Returns at most this many namespaces.
    #[must_use]
    pub fn limit(mut self, limit: impl Into<Option<usize>>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Returns the namespace as it is listed, or `None` if it does not match the query.
    pub fn shown(&self, namespace: &Namespace) -> Option<Namespace> {
        let matches = namespace.is_within(&self.prefix) && namespace.ends_with(&self.suffix);
        matches.then(|| self.max_depth.map_or_else(|| namespace.clone(), |depth| namespace.truncated(depth)))
    }
}

impl ItemWrite {
    /// Creates a put of an item without a time to live and without an embedding.
    pub fn put(at: ItemKey, value: Payload) -> Self {
        Put::new(at, value).into()
    }

    /// Returns the namespace and key of the item.
    pub fn at(&self) -> &ItemKey {
        match self {
            Self::Put(put) => &put.at,
            Self::Delete(at) => at,
        }
    }

    /// Returns the key of the item.
    pub fn key(&self) -> &Arc<str> {
        &self.at().key
    }
}
