use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;

use super::Namespace;

/// Which item is meant: a key in a namespace.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ItemKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The key; any text.
    pub key: Arc<str>,
}

impl ItemKey {
    /// The item of this key in this namespace.
    pub fn new(namespace: impl Into<Namespace>, key: impl AsRef<str>) -> Self {
        Self { namespace: namespace.into(), key: key.as_ref().into() }
    }
}

/// Something that is stored: a value, where it is, and when it was written. Times are kept to the millisecond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item<V = Payload> {
    /// Its namespace.
    pub namespace: Namespace,
    /// Its key.
    pub key: Arc<str>,
    /// Its value.
    pub value: V,
    /// When it was first written since it was last not there.
    pub created_at: SystemTime,
    /// When its value was last written.
    pub updated_at: SystemTime,
    /// From when on it will be as if it were not there.
    pub expires_at: Option<SystemTime>,
}
