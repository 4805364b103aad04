//! The limits of items.

use crate::limits::{self, MAX_NAME_BYTES, MAX_PAYLOAD_BYTES, shown};

use super::{ItemWrite, ItemWrites, Namespace, Put, StoreError};

/// The number of segments of a namespace that an error text shows.
const SHOWN_SEGMENTS: usize = 8;

impl ItemWrites {
    /// Checks the [limits](crate::limits) that hold for every store.
    ///
    /// A store calls this before it makes any of the writes.
    ///
    /// # Errors
    /// [`NotStorable`](StoreError::NotStorable) if a part of an item exceeds a limit.
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
        let refused = |reason: String| {
            let namespace: Namespace =
                at.namespace.truncated(SHOWN_SEGMENTS).segments().iter().map(|s| shown(s)).collect();
            StoreError::not_storable(namespace, shown(&at.key), reason)
        };
        let part = |part: &str, excess: String| refused(format!("cannot be stored: its {part} {excess}"));
        let segments: usize = at.namespace.segments().iter().map(|segment| segment.len() + 1).sum();
        limits::length(segments, MAX_NAME_BYTES).map_err(|excess| part("namespace", excess))?;
        limits::length(at.key.len(), MAX_NAME_BYTES).map_err(|excess| part("key", excess))?;
        limits::payload(value).map_err(refused)?;
        let Some(embedding) = embedding else { return Ok(()) };
        let model = limits::length(embedding.model().len(), MAX_NAME_BYTES);
        model.map_err(|excess| part(&format!("model `{}`", shown(embedding.model())), excess))?;
        let numbers: usize = embedding.vectors().iter().map(Vec::len).sum();
        limits::bytes(numbers.saturating_mul(size_of::<f32>()), MAX_PAYLOAD_BYTES)
            .map_err(|excess| part("embedding", excess))
    }
}
