//! The limits of cached results.

use crate::limits::{self, MAX_NAME_BYTES, MAX_PAYLOAD_BYTES, shown};

use super::{CacheError, NewEntry};

impl NewEntry {
    /// Checks the [limits](crate::limits) that hold for every cache.
    ///
    /// A cache calls this for each entry before it stores any of them. The key of a result may be as large as a
    /// payload.
    ///
    /// # Errors
    /// [`NotStorable`](CacheError::NotStorable) if a part of the entry exceeds a limit.
    pub fn check_limits(&self) -> Result<(), CacheError> {
        let Self { at, value, .. } = self;
        let refused = |part: &str, excess: String| {
            CacheError::not_storable(shown(&at.graph), shown(&at.node), format!("{part} {excess}"))
        };
        for (part, name) in [
            ("the name of the graph", &at.graph),
            ("the name of the node", &at.node),
            ("the name of the state", &at.state),
        ] {
            limits::length(name.len(), MAX_NAME_BYTES).map_err(|excess| refused(part, excess))?;
        }
        limits::bytes(at.key.len(), MAX_PAYLOAD_BYTES).map_err(|excess| refused("its key", excess))?;
        limits::payload(value).map_err(|excess| refused("it", excess))
    }
}
