use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;
use crate::store::{Embedding, Item, ItemKey, Near, Put, StoreError, Ttl};

/// An item without its namespace and key.
#[derive(Clone, Debug)]
pub(super) struct StoredItem {
    pub(super) value: Payload,
    pub(super) created_at: SystemTime,
    pub(super) updated_at: SystemTime,
    pub(super) ttl: Option<Ttl>,
    pub(super) expires_at: Option<SystemTime>,
    pub(super) embedding: Option<Arc<Embedding>>,
}

impl StoredItem {
    pub(super) fn new(put: Put, before: Option<&Self>, now: SystemTime) -> Self {
        Self {
            value: put.value,
            created_at: before.map_or(now, |before| before.created_at),
            updated_at: now,
            ttl: put.ttl,
            expires_at: put.ttl.and_then(|ttl| ttl.end(now)),
            embedding: put.embedding.map(Arc::new),
        }
    }

    /// Returns `true` if the item has not expired.
    pub(super) fn exists(&self, now: SystemTime) -> bool {
        self.expires_at.is_none_or(|end| end > now)
    }

    /// Returns the expiration time after a refresh. It is never earlier than before.
    pub(super) fn refreshed(&self, now: SystemTime) -> Option<SystemTime> {
        let refreshed = self.ttl.and_then(|ttl| ttl.end(now));
        self.expires_at.map(|end| refreshed.map_or(end, |refreshed| refreshed.max(end)))
    }

    /// Returns the score of the nearest vector, or `None` if the item has no embedding.
    pub(super) fn score(&self, at: &ItemKey, near: &Near) -> Result<Option<f32>, StoreError> {
        let Some(embedding) = &self.embedding else { return Ok(None) };
        let dimensions = embedding.vectors().first().map_or(0, Vec::len);
        if !near.compares(embedding.model(), dimensions) {
            let model = Arc::clone(embedding.model());
            return Err(StoreError::other_model(at.clone(), model, dimensions, near));
        }
        Ok(embedding.vectors().iter().map(|vector| near.score(vector)).max_by(f32::total_cmp))
    }

    pub(super) fn item(&self, at: ItemKey, expires_at: Option<SystemTime>) -> Item {
        Item {
            namespace: at.namespace,
            key: at.key,
            value: self.value.clone(),
            created_at: self.created_at,
            updated_at: self.updated_at,
            expires_at,
        }
    }
}
