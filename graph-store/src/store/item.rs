use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;

use super::Namespace;

/// The full key of an item: a key in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct ItemKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The key: an arbitrary string.
    pub key: Arc<str>,
}

impl ItemKey {
    /// Creates the full key from a namespace and a key.
    pub fn new(namespace: impl Into<Namespace>, key: impl Into<Arc<str>>) -> Self {
        Self { namespace: namespace.into(), key: key.into() }
    }
}

/// A stored item: a value with its namespace, its key and its times. Times have millisecond precision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item<V = Payload> {
    /// The namespace.
    pub namespace: Namespace,
    /// The key.
    pub key: Arc<str>,
    /// The value.
    pub value: V,
    /// The time of the write that created the item.
    pub created_at: SystemTime,
    /// The time of the last write of the value.
    pub updated_at: SystemTime,
    /// The time from which the item no longer exists. `None` if it does not expire.
    pub expires_at: Option<SystemTime>,
}

impl<V> Item<V> {
    /// Creates an item that was written once and does not expire.
    pub fn new(
        namespace: impl Into<Namespace>,
        key: impl Into<Arc<str>>,
        value: V,
        created_at: SystemTime,
    ) -> Self {
        Self {
            namespace: namespace.into(),
            key: key.into(),
            value,
            created_at,
            updated_at: created_at,
            expires_at: None,
        }
    }

    /// Sets the time of the last write of the value.
    #[must_use]
    pub fn updated_at(mut self, time: SystemTime) -> Self {
        self.updated_at = time;
        self
    }

    /// Sets the time from which the item no longer exists.
    #[must_use]
    pub fn expires_at(mut self, time: impl Into<Option<SystemTime>>) -> Self {
        self.expires_at = time.into();
        self
    }
}
