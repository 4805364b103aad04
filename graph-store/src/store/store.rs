use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::Page;

use super::{Found, Get, Item, ItemWrites, Namespace, NamespaceQuery, Search, StoreError};

/// The future that a call to a [`Store`] returns.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A long-term store.
///
/// This trait is a contract for authors of stores: a store keeps every promise on this page. Applications use a store
/// through [`LongTermStore`](super::LongTermStore). The crate `superstep-conformance` tests the promises, and a store
/// has to pass its suite.
///
/// # Data model
/// - A store keeps items under a namespace and a key. It does not interpret a [`Payload`](crate::payload::Payload),
///   except for the conditions of a search.
/// - A namespace is a list of segments. Segments are never joined.
/// - Segments and keys are arbitrary strings, including the empty string. They are compared by their bytes.
/// - A store calls no embedding model: vectors are part of the writes and searches.
/// - Everything within the [limits](crate::limits) can be stored and read back. Everything else is refused:
///   [`write`](Self::write) begins with [`ItemWrites::check_limits`].
///
/// # Time
/// - A store has no clock: the caller passes the time with each call.
/// - Times have millisecond precision. Fractions of a millisecond are cut off.
/// - An item does not exist for any call whose time is `expires_at` or later.
/// - A write deletes a bounded number of expired items, so that expired items cannot fill a store.
///   [`delete_expired`](Self::delete_expired) deletes all of them.
///
/// # Durability
/// - After [`write`](Self::write) has returned `Ok`, its writes survive everything that the store promises to survive.
/// - A read never returns a write that the store has not acknowledged.
///
/// # Cancel safety
/// - A call whose future is dropped is completed as a whole or has no effect.
/// - A read that begins after the drop, through the same store, sees the final result of the dropped call: a write that
///   this read does not see is never made.
pub trait Store: Send + Sync + 'static {
    /// Reads items, as of one moment.
    ///
    /// - The result has one entry for each key, in the order of the keys. It is `None` for a missing item.
    /// - With [`refresh`](Get::refresh), the time to live of each item restarts at `now`. The returned items have the
    ///   new expiration times.
    /// - A refresh never makes an item expire earlier.
    ///
    /// # Errors
    /// [`Corrupt`](StoreError::Corrupt) if an item cannot be read.
    ///
    /// # Cancel safety
    /// The items are refreshed as a whole or not at all.
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>>;

    /// Makes all writes, or none, in their order.
    ///
    /// - The result has one entry for each write: `true` if an item existed before that write.
    /// - A put replaces the previous item with its value, time to live and embedding. Only `created_at` is kept.
    ///
    /// # Errors
    /// - [`Backend`](StoreError::Backend) if the storage below the store fails.
    /// - [`NotStorable`](StoreError::NotStorable) if a write exceeds one of the [limits](crate::limits).
    ///
    /// The store is unchanged after an error.
    ///
    /// # Durability
    /// The writes are durable when the call has returned `Ok`.
    ///
    /// # Cancel safety
    /// All writes are made or none.
    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>>;

    /// Searches items, as of one moment.
    ///
    /// - The page has exactly the matching items after the offset, up to the limit.
    /// - [`Page::more`] is exact: `true` if and only if there are further matching items.
    /// - Conditions have the result of [`Search::accepts`].
    ///
    /// # Errors
    /// - [`Corrupt`](StoreError::Corrupt) if an item cannot be read.
    /// - [`OtherModel`](StoreError::OtherModel) if an item that meets the conditions has vectors that cannot be
    ///   compared with the vector of the search.
    ///
    /// # Cancel safety
    /// The items are refreshed as a whole or not at all.
    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>>;

    /// Lists the namespaces that have items.
    ///
    /// # Errors
    /// [`Corrupt`](StoreError::Corrupt) if a namespace cannot be read.
    ///
    /// # Cancel safety
    /// The call only reads.
    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>>;

    /// Deletes all expired items and returns their number.
    ///
    /// The call may consist of several steps. Other calls are served after each step.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend) if the storage below the store fails.
    ///
    /// # Cancel safety
    /// Each item is deleted as a whole or not at all.
    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64>;
}

impl<S: Store + ?Sized> Store for Arc<S> {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        S::get(self, get)
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        S::write(self, writes)
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        S::search(self, search)
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        S::namespaces(self, query)
    }

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        S::delete_expired(self, now)
    }
}
