//! What a [`Store`](super::Store) is asked.

use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::{Encoding, Payload};

use super::{Condition, Embedding, ItemKey, Namespace, Near, Ttl};

/// Items to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Get {
    /// What time it is.
    pub now: SystemTime,
    /// Which ones.
    pub keys: Vec<ItemKey>,
    /// Whether those of them that have a time to live begin it anew.
    pub refresh: bool,
}

/// ItemWrites to be made together.
#[derive(Clone, Debug, PartialEq)]
pub struct ItemWrites {
    /// What time it is.
    pub now: SystemTime,
    /// In this order.
    pub writes: Vec<ItemWrite>,
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemWrite {
    /// Puts an item, in the place of the one that is there.
    Put(Box<Put>),
    /// Takes an item away.
    Delete(ItemKey),
}

/// An item to be put. Nothing stays of the one before it but when that was created.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// Where.
    pub at: ItemKey,
    /// The value.
    pub value: Payload,
    /// How long it lives; for ever if it is not said.
    pub ttl: Option<Ttl>,
    /// What it is found by in a search by meaning; by nothing if it is not said.
    pub embedding: Option<Embedding>,
}

/// Items to look for.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// What time it is.
    pub now: SystemTime,
    /// Where.
    pub namespace: Namespace,
    /// Whether also further in.
    pub within: bool,
    /// Only items that fulfil all of these.
    pub conditions: Vec<Condition>,
    /// Only items with an embedding, the nearest first; those that are equally near in the order that is asked for.
    pub near: Option<Near>,
    /// In which order.
    pub order: Order,
    /// Not the first so many.
    pub offset: usize,
    /// At most so many.
    pub limit: Option<usize>,
    /// Whether those that are given back begin their time to live anew.
    pub refresh: bool,
}

/// In which order items are given back; always the same for the same items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// By namespace, segment by segment, then by key; texts by their bytes. It stays the same when an item is written again,
    /// so that pages neither repeat nor leave out what is there all along.
    #[default]
    Name,
    /// Those first that were last written; of one millisecond, by name.
    Newest,
}

/// Namespaces to list: those in which an item is, in their order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceQuery {
    /// What time it is.
    pub now: SystemTime,
    /// Only this one and those further in.
    pub prefix: Namespace,
    /// Only those that end so.
    pub suffix: Namespace,
    /// Only so many segments of each, once for all that begin so.
    pub max_depth: Option<usize>,
    /// Not the first so many.
    pub offset: usize,
    /// At most so many.
    pub limit: Option<usize>,
}

impl Search {
    /// Everything within a namespace, in the order of names.
    pub fn within(now: SystemTime, namespace: impl Into<Namespace>) -> Self {
        Self {
            now,
            namespace: namespace.into(),
            within: true,
            conditions: Vec::new(),
            near: None,
            order: Order::Name,
            offset: 0,
            limit: None,
            refresh: false,
        }
    }

    /// Whether items of this namespace are looked at.
    pub fn covers(&self, namespace: &Namespace) -> bool {
        if self.within { namespace.is_within(&self.namespace) } else { *namespace == self.namespace }
    }

    /// Whether a value fulfils the conditions. One that is not JSON, but bytes, has no fields.
    ///
    /// # Errors
    /// In words, why it cannot be read.
    pub fn accepts(&self, value: &Payload) -> Result<bool, String> {
        if self.conditions.is_empty() {
            return Ok(true);
        }
        let json = match value.encoding() {
            Encoding::Json => {
                Some(std::str::from_utf8(value.bytes()).map_err(|_| "it is not UTF-8".to_owned())?)
            }
            Encoding::Bytes => None,
            Encoding::Sealed => return Err("it is sealed, and its fields cannot be seen".to_owned()),
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
    /// All of them.
    pub fn all(now: SystemTime) -> Self {
        let root = Namespace::root;
        Self { now, prefix: root(), suffix: root(), max_depth: None, offset: 0, limit: None }
    }

    /// What is listed of a namespace in which an item is, if it is.
    pub fn shown(&self, namespace: &Namespace) -> Option<Namespace> {
        let asked = namespace.is_within(&self.prefix) && namespace.ends_with(&self.suffix);
        asked.then(|| self.max_depth.map_or_else(|| namespace.clone(), |depth| namespace.truncated(depth)))
    }
}

impl ItemWrite {
    /// Puts an item that lives for ever and is found by no meaning.
    pub fn put(at: ItemKey, value: Payload) -> Self {
        Self::Put(Box::new(Put { at, value, ttl: None, embedding: None }))
    }

    /// The item that it is about.
    pub fn at(&self) -> &ItemKey {
        match self {
            Self::Put(put) => &put.at,
            Self::Delete(at) => at,
        }
    }

    /// The key of that item.
    pub fn key(&self) -> &Arc<str> {
        &self.at().key
    }
}
