use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use superstep_store::cache::{Cache, CacheError, EntryKey};

/// Where a cache is: a file, a server, or just a cache in memory.
///
/// Each case is given a new place, in which nothing has been put yet.
pub trait Place: Send + Sync + 'static {
    /// The cache.
    type Cache: Cache;

    /// Opens the cache that is here, as a process does when it starts.
    ///
    /// Called again, it opens the *same* cache, also while another one is open. A cache that can be opened but once gives out
    /// another handle to it.
    fn open(&self) -> impl Future<Output = Result<Self::Cache, CacheError>> + Send;

    /// Spoils a result, so that the cache can see that it is spoilt: a number of no meaning. No cache is open meanwhile. Gives
    /// back whether it has done so; a place that cannot says no, and is not asked any further.
    fn damage(&self, at: &EntryKey) -> impl Future<Output = bool> + Send {
        let _ = at;
        ready(false)
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A place of whatever kind: cases are not made again for each cache.
#[doc(hidden)]
pub trait AnyPlace: Send + Sync {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Cache>, CacheError>>;
    fn damage_any<'a>(&'a self, at: &'a EntryKey) -> BoxFuture<'a, bool>;
}

impl<P: Place> AnyPlace for P {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Cache>, CacheError>> {
        Box::pin(async move { Ok(Arc::new(self.open().await?) as Arc<dyn Cache>) })
    }

    fn damage_any<'a>(&'a self, at: &'a EntryKey) -> BoxFuture<'a, bool> {
        Box::pin(self.damage(at))
    }
}
