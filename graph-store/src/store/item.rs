use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;

use super::Namespace;

/// The full key of an item: a key in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The key: an arbitrary string.
    pub key: Arc<str>,
}

impl ItemKey {
    /// Creates the full key from a namespace and a key.
    pub fn new(namespace: impl Into<Namespace>, key: impl AsRef<str>) -> Self {
        Self { namespace: namespace.into(), key: key.as_ref().into() }
    }
}

/// A stored item: a value with its namespace, its key and its times. Times have millisecond precision.
#[derive(Clone, Debug, PartialEq, Eq)]
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
