use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::payload::Payload;

use super::{CacheError, Clear, EntryKey, NewEntry};

/// What a call to a cache gives back.
pub type CacheFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, CacheError>> + Send + 'a>>;

/// A cache, as its author sees it; a graph is given one with `Graph::with_cache`.
///
/// A cache keeps bytes under names, and knows no types and no clock: every call says what time it is. Names are any text, and
/// are compared by their bytes. It may forget what it likes whenever it likes, and must give back nothing else than what was
/// put last. A cache is *one* that passes the conformance suite; see there for every promise by name.
///
/// An entry with a time to live is there from the time of its put until the time to live is over, and at no other time: one
/// that was put by a clock that is ahead is not there before that time either. An entry without one is always there. Entries
/// whose time is up are taken away with later puts, a bounded number with each, so that what expires cannot fill a cache.
///
/// Times are kept to the millisecond, and parts of one are left out.
///
/// # Cancel safety
/// A put or a clear whose future is dropped is done as a whole or not at all.
pub trait Cache: Send + Sync + 'static {
    /// Looks for an entry.
    ///
    /// # Errors
    /// [`CorruptEntry`](CacheError::Corrupt) for one that cannot be read; what lies below the cache failed.
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>>;

    /// Puts entries in the place of those that are there, one after the other: all or none.
    ///
    /// # Errors
    /// What lies below the cache failed.
    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()>;

    /// Takes entries away; how many that were. It may be done in steps, behind each of which others are served.
    ///
    /// # Errors
    /// What lies below the cache failed.
    fn clear(&self, which: Clear) -> CacheFuture<'_, u64>;
}

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
