use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::Page;

use super::{Found, Get, Item, ItemWrites, Namespace, NamespaceQuery, Search, StoreError};

/// What a call to a store gives back.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A long-term store, as its author sees it; its users have a [`LongTermStore`](super::LongTermStore) around it.
///
/// A store knows records and bytes, no types, and neither a clock nor a model: every call says what time it is, and vectors
/// come with what is written and searched. Segments of namespaces and keys are any text, and are compared by their bytes; a
/// namespace is a list and no text. A store is *one* that keeps what is said here and passes the conformance suite; see there
/// for every promise by name.
///
/// An item whose time is up (`expires_at` is `now` or earlier) is not there for any call. Stores take such items away with
/// later writes, a bounded number with each, so that what expires cannot fill them; [`sweep`](Self::sweep) takes all.
///
/// Times are kept to the millisecond, and parts of one are left out.
///
/// # Durability
/// When [`write`](Self::write) has returned, its writes survive whatever the store promises to survive; nothing that has not
/// been acknowledged is ever read.
///
/// # Cancel safety
/// A call whose future is dropped is done as a whole or not at all. A read that begins afterwards through the same store
/// sees what came of it: what it does not see is never done.
pub trait Store: Send + Sync + 'static {
    /// Reads items as of one moment, in the order in which they are named; what is not there is `None`.
    ///
    /// With `refresh`, items that have a time to live begin it anew at `now`; what is given back says when they expire then.
    /// It never makes one expire earlier.
    ///
    /// # Errors
    /// [`CorruptItem`](StoreError::Corrupt) for what cannot be read.
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>>;

    /// Makes all writes or none, one after the other; says of each whether an item was there before it.
    ///
    /// A put takes the whole place of the item before: value, time to live and embedding. `created_at` stays.
    ///
    /// # Errors
    /// What lies below the store failed.
    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>>;

    /// Looks for items, as of one moment: exactly those that there are behind the offset, up to the limit, and whether there
    /// are more. Values are compared as [`Search::accepts`] does.
    ///
    /// # Errors
    /// [`CorruptItem`](StoreError::Corrupt) for what cannot be read; [`OtherModel`](StoreError::OtherModel) if an item that the conditions
    /// let through has vectors that cannot be compared with those of the search.
    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>>;

    /// Lists namespaces in which an item is.
    ///
    /// # Errors
    /// [`CorruptItem`](StoreError::Corrupt) for what cannot be read.
    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>>;

    /// Takes everything away that has expired; how many items that were. It may be done in steps, behind each of which others
    /// are served.
    ///
    /// # Errors
    /// What lies below the store failed.
    fn sweep(&self, now: SystemTime) -> StoreFuture<'_, u64>;
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

    fn sweep(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        S::sweep(self, now)
    }
}
