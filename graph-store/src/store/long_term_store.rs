use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::checkpoint::Page;
use crate::payload::Storable;

use super::configured_store::ConfiguredStore;
use super::{Batch, Index, Items, Namespace, NamespaceQuery, Store, StoreError};

/// A long-term store with typed items, as applications use it.
///
/// Cheap to clone. A clone is a handle to the same store.
///
/// ```
/// use superstep::store::{LongTermStore, MemoryStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// // `superstep_sqlite::SqliteStore::open("memory.db")?` keeps it in a file.
/// let store = LongTermStore::new(MemoryStore::new());
///
/// let notes = store.of::<String>(["users", "ann", "notes"]);
/// notes.put("diet", &"eats no meat".to_owned()).await?;
/// assert_eq!(notes.get("diet").await?.as_deref(), Some("eats no meat"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct LongTermStore(Arc<ConfiguredStore>);

impl LongTermStore {
    /// Creates a store without an index and without a default time to live.
    pub fn new(store: impl Store) -> Self {
        let store: Arc<dyn Store> = Arc::new(store);
        Self(Arc::new(ConfiguredStore { store, clock: None, ttl: None, refresh: false, index: None }))
    }

    /// Sets the default time to live of items.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with(|parts| parts.ttl = Some(ttl))
    }

    /// Restarts the time to live of an item when it is read or found.
    ///
    /// Each such read is also a write.
    #[must_use]
    pub fn refresh_on_read(self) -> Self {
        self.with(|parts| parts.refresh = true)
    }

    /// Adds an index for semantic search. Items that are put from now on are indexed.
    #[must_use]
    pub fn index(self, index: Index) -> Self {
        self.with(|parts| parts.index = Some(index))
    }

    /// Replaces the clock of the system, for tests.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.with(|parts| parts.clock = Some(Arc::new(clock)))
    }

    fn with(self, change: impl FnOnce(&mut ConfiguredStore)) -> Self {
        let mut parts = Arc::unwrap_or_clone(self.0);
        change(&mut parts);
        Self(Arc::new(parts))
    }

    /// Returns the items of a namespace as values of type `T`.
    ///
    /// A search also finds items in namespaces inside it.
    pub fn of<T: Storable + 'static>(&self, namespace: impl Into<Namespace>) -> Items<T> {
        Items::new(Arc::clone(&self.0), namespace.into())
    }

    /// Creates a batch of writes, which are made together: all or none.
    pub fn batch(&self) -> Batch {
        Batch::new(Arc::clone(&self.0))
    }

    /// Creates a list of the namespaces that have items.
    pub fn namespaces(&self) -> Namespaces {
        Namespaces { store: Arc::clone(&self.0), query: NamespaceQuery::new(self.0.now()) }
    }

    /// Deletes all expired items and returns their number. Every write also deletes a few of them.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend) if the storage below the store fails.
    ///
    /// # Cancel safety
    /// A dropped call may have deleted some of the items. Each item is deleted as a whole or not at all.
    pub async fn delete_expired(&self) -> Result<u64, StoreError> {
        self.0.store.delete_expired(self.0.now()).await
    }

    /// Returns the untyped store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }
}

impl fmt::Debug for LongTermStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A list of namespaces. Set options, then await it.
///
/// ```
/// # use superstep::store::{LongTermStore, MemoryStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let store = LongTermStore::new(MemoryStore::new());
/// store.of::<u8>(["users", "ann", "notes"]).put("a", &1).await?;
/// store.of::<u8>(["users", "bob", "notes"]).put("b", &2).await?;
/// let users = store.namespaces().within("users").max_depth(2).await?;
/// assert_eq!(users.items, [["users", "ann"].into(), ["users", "bob"].into()]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// - [`Corrupt`](StoreError::Corrupt) if a namespace cannot be read.
/// - [`Backend`](StoreError::Backend) if the storage below the store fails.
///
/// # Cancel safety
/// The list only reads.
#[derive(Debug)]
#[must_use = "a list is not read until it is awaited"]
pub struct Namespaces {
    store: Arc<ConfiguredStore>,
    query: NamespaceQuery,
}

impl Namespaces {
    /// Lists only this namespace and the namespaces inside it.
    pub fn within(mut self, prefix: impl Into<Namespace>) -> Self {
        self.query.prefix = prefix.into();
        self
    }

    /// Lists only namespaces that end with these segments.
    pub fn ending(mut self, suffix: impl Into<Namespace>) -> Self {
        self.query.suffix = suffix.into();
        self
    }

    /// Lists at most this many segments of each namespace. Namespaces that are equal after the cut are listed once.
    pub fn max_depth(mut self, segments: usize) -> Self {
        self.query.max_depth = Some(segments);
        self
    }

    /// Skips the first `offset` namespaces.
    pub fn offset(mut self, offset: usize) -> Self {
        self.query.offset = offset;
        self
    }

    /// Returns at most `limit` namespaces.
    pub fn limit(mut self, limit: usize) -> Self {
        self.query.limit = Some(limit);
        self
    }
}

impl IntoFuture for Namespaces {
    type Output = Result<Page<Namespace>, StoreError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let query = NamespaceQuery { now: self.store.now(), ..self.query };
            self.store.store.namespaces(query).await
        })
    }
}
