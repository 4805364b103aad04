use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;

use super::{CacheError, Clear, EntryKey, NewEntry};

/// The future that a call to a [`Cache`] returns.
pub type CacheFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CacheError>> + Send + 'a>>;

/// A cache of results of nodes.
///
/// This trait is a contract for authors of caches: a cache keeps every promise on this page. `Graph::with_cache` gives
/// a cache to a graph. The crate `superstep-conformance` tests the promises, and a cache has to pass its suite.
///
/// # Data model
/// - A cache stores [payloads](Payload) under [keys](EntryKey). It does not interpret them.
/// - The parts of a key are arbitrary strings, including the empty string. They are compared by their bytes.
/// - A cache may drop any entry at any time.
/// - A cache accepts everything within the [limits](crate::limits) and refuses everything else: [`put`](Self::put)
///   begins with [`NewEntry::check_limits`].
/// - A cache never returns another value than the one that was put last under the key.
///
/// # Time
/// - A cache has no clock: the caller passes the time with each call.
/// - Times have millisecond precision. Fractions of a millisecond are cut off.
/// - An entry without a time to live does not expire.
/// - An entry with a time to live exists from the time of its put until its time to live has passed. A call with an
///   earlier time does not see it either, for example if the clock of the writer was ahead.
/// - A put removes a bounded number of expired entries, so that expired entries cannot fill a cache.
///
/// # Cancel safety
/// - A [`put`](Self::put) whose future is dropped is done as a whole or has no effect.
/// - A [`clear`](Self::clear) whose future is dropped is done as a whole or has no effect.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a cache",
    label = "does not implement `Cache`",
    note = "`MemoryCache` holds the results of this process; the crates of the stores have others, such as `SqliteCache`"
)]
pub trait Cache: Send + Sync + 'static {
    /// Returns the value of an entry, or `None` if it does not exist at the time `now`.
    ///
    /// # Errors
    /// - [`Corrupt`](CacheError::Corrupt) if the entry cannot be read.
    /// - [`Backend`](CacheError::Backend) if the storage below the cache fails.
    ///
    /// # Cancel safety
    /// A dropped call changes no value.
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>>;

    /// Puts all entries, or none, in their order. Each replaces the entry with the same key.
    ///
    /// # Errors
    /// - [`Backend`](CacheError::Backend) if the storage below the cache fails.
    /// - [`NotStorable`](CacheError::NotStorable) if an entry exceeds one of the [limits](crate::limits).
    ///
    /// No entry is put after an error.
    ///
    /// # Durability
    /// None is promised: a cache may drop an entry at any time.
    ///
    /// # Cancel safety
    /// All entries are put or none.
    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()>;

    /// Removes entries and returns their number.
    ///
    /// The call may consist of several steps. Other calls are served after each step.
    ///
    /// # Errors
    /// [`Backend`](CacheError::Backend) if the storage below the cache fails.
    ///
    /// # Cancel safety
    /// A clear whose future is dropped is done as a whole or has no effect.
    fn clear(&self, which: Clear) -> CacheFuture<'_, u64>;
}

#[diagnostic::do_not_recommend]
impl<C: Cache + ?Sized> Cache for Arc<C> {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        C::get(self, at, now)
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        C::put(self, puts, now)
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        C::clear(self, which)
    }
}
