use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::ttl::to_the_millisecond;
use super::{Index, Namespace, Near, Store, StoreError};

/// A store with the settings of its long-term store.
#[derive(Clone)]
pub(super) struct ConfiguredStore {
    pub(super) store: Arc<dyn Store>,
    pub(super) clock: Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>,
    /// The default time to live.
    pub(super) ttl: Option<Duration>,
    /// `true` if a read restarts the time to live.
    pub(super) refresh: bool,
    pub(super) index: Option<Index>,
}

impl ConfiguredStore {
    pub(super) fn now(&self) -> SystemTime {
        to_the_millisecond(self.clock.as_ref().map_or_else(SystemTime::now, |clock| clock()))
    }

    /// Embeds the query of a semantic search.
    pub(super) async fn near(&self, query: String, prefix: &Namespace) -> Result<Near, StoreError> {
        match &self.index {
            Some(index) => index.near(query).await,
            None => Err(StoreError::no_index(prefix.clone())),
        }
    }
}

impl fmt::Debug for ConfiguredStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { ttl, refresh, index, .. } = self;
        f.debug_struct("LongTermStore")
            .field("ttl", ttl)
            .field("refresh_on_read", refresh)
            .field("index", index)
            .finish_non_exhaustive()
    }
}
