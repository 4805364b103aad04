use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

use superstep_store::cache::{Cache, CacheError, EntryKey};

/// The storage behind a cache: a file, a server, or memory.
///
/// Each case gets a new, empty store.
pub trait TestCache: Send + Sync + 'static {
    /// The type of the cache.
    type Cache: Cache;

    /// Opens the cache, as a process does when it starts.
    ///
    /// Each call opens the *same* cache, even while another handle is open. A cache that can be opened only once
    /// returns another handle to it.
    fn open(&self) -> impl Future<Output = Result<Self::Cache, CacheError>> + Send;

    /// Damages a result in a way that the cache can detect, for example with an invalid number.
    ///
    /// No handle is open during the call. Returns `true` if the result was damaged. Returns `false` if the storage does
    /// not support it, which skips the case.
    fn damage(&self, at: &EntryKey) -> impl Future<Output = bool> + Send {
        let _ = at;
        ready(false)
    }
}

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A type-erased [`TestCache`], so that the cases are compiled once.
#[doc(hidden)]
pub trait AnyTestCache: Send + Sync {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Cache>, CacheError>>;
    fn damage_any<'a>(&'a self, at: &'a EntryKey) -> BoxFuture<'a, bool>;
}

impl<P: TestCache> AnyTestCache for P {
    fn open_any(&self) -> BoxFuture<'_, Result<Arc<dyn Cache>, CacheError>> {
        Box::pin(async move { Ok(Arc::new(self.open().await?) as Arc<dyn Cache>) })
    }

    fn damage_any<'a>(&'a self, at: &'a EntryKey) -> BoxFuture<'a, bool> {
        Box::pin(self.damage(at))
    }
}
