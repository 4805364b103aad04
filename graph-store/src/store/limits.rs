//! The limits of items.

use crate::limits::{self, MAX_NAME_BYTES, MAX_PAYLOAD_BYTES, shown};

use super::{ItemWrite, ItemWrites, Put, StoreError};

impl ItemWrites {
    /// Checks the [limits](crate::limits) that hold for every store.
    ///
    /// A store calls this before it makes any of the writes.
    ///
    /// # Errors
    /// - [`NotStorable`](StoreError::NotStorable) if a value is too large.
    /// - [`Invalid`](StoreError::Invalid) if a namespace, a key, the name of a model or an embedding is too long.
    pub fn check_limits(&self) -> Result<(), StoreError> {
        self.writes.iter().try_for_each(|write| match write {
            ItemWrite::Put(put) => put.check(),
            // An item with a name that is too long does not exist.
            ItemWrite::Delete(_) => Ok(()),
        })
    }
}

impl Put {
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let Self { at, value, embedding, .. } = self;
        let segments: usize = at.namespace.segments().iter().map(|segment| segment.len() + 1).sum();
        let namespace = || shown(&at.namespace.to_string());
        limits::length(segments, MAX_NAME_BYTES)
            .map_err(|excess| StoreError::invalid(format!("namespace {} {excess}", namespace())))?;
        limits::length(at.key.len(), MAX_NAME_BYTES).map_err(|excess| {
            StoreError::invalid(format!("key `{}` in namespace {} {excess}", shown(&at.key), namespace()))
        })?;
        limits::payload(value).map_err(|excess| {
            StoreError::not_storable(at.namespace.clone(), std::sync::Arc::clone(&at.key), excess)
        })?;
        let Some(embedding) = embedding else { return Ok(()) };
        limits::length(embedding.model().len(), MAX_NAME_BYTES).map_err(|excess| {
            StoreError::invalid(format!("the name of model `{}` {excess}", shown(embedding.model())))
        })?;
        let numbers: usize = embedding.vectors().iter().map(Vec::len).sum();
        limits::bytes(numbers.saturating_mul(size_of::<f32>()), MAX_PAYLOAD_BYTES).map_err(|excess| {
            StoreError::invalid(format!("the embedding of item `{}` {excess}", shown(&at.key)))
        })
    }
}
