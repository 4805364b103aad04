use std::future::{Future, ready};

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
