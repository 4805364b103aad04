use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::checkpoint::Page;

use super::ttl::to_the_millisecond;
use super::{Index, Namespace, NamespaceQuery, Near, Store, StoreError};

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
pub struct LongTermStore(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    store: Arc<dyn Store>,
    clock: Option<Arc<dyn Fn() -> SystemTime + Send + Sync>>,
    ttl: Option<Duration>,
    refresh: bool,
    index: Option<Index>,
}

impl LongTermStore {
    /// Creates a store without an index and without a default time to live.
    pub fn new(store: impl Store) -> Self {
        let store: Arc<dyn Store> = Arc::new(store);
        Self(Arc::new(Parts { store, clock: None, ttl: None, refresh: false, index: None }))
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

    fn with(self, change: impl FnOnce(&mut Parts)) -> Self {
        let mut parts = Arc::unwrap_or_clone(self.0);
        change(&mut parts);
        Self(Arc::new(parts))
    }

    /// Creates a list of the namespaces that have items.
    pub fn namespaces(&self) -> Namespaces {
        Namespaces { store: self.clone(), query: NamespaceQuery::new(self.now()) }
    }

    /// Deletes all expired items and returns their number. Every write also deletes a few of them.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend) if the storage below the store fails.
    ///
    /// # Cancel safety
    /// A dropped call may have deleted some of the items. Each item is deleted as a whole or not at all.
    pub async fn delete_expired(&self) -> Result<u64, StoreError> {
        self.0.store.delete_expired(self.now()).await
    }

    /// Returns the untyped store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    pub(super) fn now(&self) -> SystemTime {
        to_the_millisecond(self.0.clock.as_ref().map_or_else(SystemTime::now, |clock| clock()))
    }

    /// Returns `true` if a read restarts the time to live.
    pub(super) fn refreshes(&self) -> bool {
        self.0.refresh
    }

    pub(super) fn default_ttl(&self) -> Option<Duration> {
        self.0.ttl
    }

    pub(super) fn embedding_index(&self) -> Option<&Index> {
        self.0.index.as_ref()
    }

    /// Embeds the query of a semantic search.
    pub(super) async fn near(&self, query: String, prefix: &Namespace) -> Result<Near, StoreError> {
        match self.embedding_index() {
            Some(index) => index.near(query).await,
            None => Err(StoreError::no_index(prefix.clone())),
        }
    }
}

impl fmt::Debug for LongTermStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { ttl, refresh, index, .. } = &*self.0;
        f.debug_struct("LongTermStore")
            .field("ttl", ttl)
            .field("refresh_on_read", refresh)
            .field("index", index)
            .finish_non_exhaustive()
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
    store: LongTermStore,
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
            self.store.store().namespaces(query).await
        })
    }
}
