use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::checkpoint::Page;
use crate::payload::Storable;

use super::ttl::to_the_millisecond;
use super::{Batch, Index, Items, Namespace, NamespaceQuery, Near, Store, StoreError};

/// A long-term store as applications use it: what is stored has types here. Cheap to clone; a clone is the same store.
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
    /// A store with neither an index nor a time to live.
    pub fn new(store: impl Store) -> Self {
        let store: Arc<dyn Store> = Arc::new(store);
        Self(Arc::new(Parts { store, clock: None, ttl: None, refresh: false, index: None }))
    }

    /// How long an item lives that is put without saying it.
    #[must_use]
    pub fn ttl(self, ttl: Duration) -> Self {
        self.with(|parts| parts.ttl = Some(ttl))
    }

    /// Lets what is read, or found by a search, begin its time to live anew. Every such read is a write then.
    #[must_use]
    pub fn refresh_on_read(self) -> Self {
        self.with(|parts| parts.refresh = true)
    }

    /// Lets items be found by their meaning: whatever is put from now on is indexed.
    #[must_use]
    pub fn index(self, index: Index) -> Self {
        self.with(|parts| parts.index = Some(index))
    }

    /// Another clock than the system's, for tests.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        self.with(|parts| parts.clock = Some(Arc::new(clock)))
    }

    fn with(self, change: impl FnOnce(&mut Parts)) -> Self {
        let mut parts = Arc::unwrap_or_clone(self.0);
        change(&mut parts);
        Self(Arc::new(parts))
    }

    /// The items of a namespace, and those further in, as values of this type.
    pub fn of<T: Storable + 'static>(&self, namespace: impl Into<Namespace>) -> Items<T> {
        Items::new(self.clone(), namespace.into(), self.0.refresh)
    }

    /// ItemWrites that are made together, all or none.
    pub fn batch(&self) -> Batch {
        Batch::new(self.clone())
    }

    /// Lists the namespaces in which an item is.
    pub fn namespaces(&self) -> Namespaces {
        Namespaces { store: self.clone(), query: NamespaceQuery::all(self.now()) }
    }

    /// Takes everything away that has expired; how many items that were. Later writes do so too, a few items with each.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend).
    ///
    /// # Cancel safety
    /// What has been taken away is gone; nothing is half gone.
    pub async fn sweep(&self) -> Result<u64, StoreError> {
        self.0.store.sweep(self.now()).await
    }

    /// The store itself, without types.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.0.store
    }

    pub(super) fn now(&self) -> SystemTime {
        to_the_millisecond(self.0.clock.as_ref().map_or_else(SystemTime::now, |clock| clock()))
    }

    pub(super) fn default_ttl(&self) -> Option<Duration> {
        self.0.ttl
    }

    pub(super) fn indexed(&self) -> Option<&Index> {
        self.0.index.as_ref()
    }

    /// What is looked for in a search by meaning.
    pub(super) async fn near(&self, query: String, prefix: &Namespace) -> Result<Near, StoreError> {
        match self.indexed() {
            Some(index) => index.near(query).await,
            None => Err(StoreError::NoIndex { prefix: prefix.clone() }),
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

/// A list of namespaces that has not been read: set options, then await it.
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
/// [`CorruptItem`](StoreError::Corrupt), [`Backend`](StoreError::Backend).
///
/// # Cancel safety
/// It only reads.
#[derive(Debug)]
#[must_use = "a list is not read until it is awaited"]
pub struct Namespaces {
    store: LongTermStore,
    query: NamespaceQuery,
}

impl Namespaces {
    /// Only this one and those further in.
    pub fn within(mut self, prefix: impl Into<Namespace>) -> Self {
        self.query.prefix = prefix.into();
        self
    }

    /// Only those whose last segments are these.
    pub fn ending(mut self, suffix: impl Into<Namespace>) -> Self {
        self.query.suffix = suffix.into();
        self
    }

    /// Only so many segments of each, once for all that begin so.
    pub fn max_depth(mut self, segments: usize) -> Self {
        self.query.max_depth = Some(segments);
        self
    }

    /// Not the first so many.
    pub fn offset(mut self, offset: usize) -> Self {
        self.query.offset = offset;
        self
    }

    /// At most so many.
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
