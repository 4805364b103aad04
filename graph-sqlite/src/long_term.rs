use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use rusqlite::Connection;
use superstep_store::checkpoint::Page;
use superstep_store::store::{
    Found, Get, Item, ItemWrites, Namespace, NamespaceQuery, Search, Store, StoreError, StoreFuture,
};

use crate::cache::SqliteCache;
use crate::items::{self, Fault, Sweep, about, settle};
use crate::options::Options;
use crate::shared::Shared;
use crate::writer::{Session, Turn};

/// A long-term store in one SQLite file. A clone is the same store.
///
/// ```
/// use superstep::store::LongTermStore;
/// use superstep_sqlite::SqliteStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("memory.db");
/// let store = LongTermStore::new(SqliteStore::open(path)?);
/// let notes = store.of::<String>(["users", "ann"]);
/// notes.put("diet", &"eats no meat".to_owned()).await?;
/// assert_eq!(notes.get("diet").await?.as_deref(), Some("eats no meat"));
/// # Ok(())
/// # }
/// ```
///
/// The file may be one in which checkpoints are: [`SqliteCheckpointer::store`](crate::SqliteCheckpointer::store) gives the store
/// in it, and both write with one thread. Several processes may have it open.
///
/// A read of an item costs a look into two indexes. A search reads the items of its namespace, and those further in, until its
/// page is full, and a search by meaning reads all of them; see [`Index`](superstep_store::store::Index).
///
/// What is in the file is not encrypted: whoever can read the file reads the values. A file that is made here can be read by its
/// owner only.
///
/// # Durability
/// A call that has returned is durable as its [`Synchronous`](crate::Synchronous) says. Calls that wait at the same time are
/// written in one transaction.
///
/// # Cancel safety
/// A call is handed over at the first poll of its future and done in that order. Dropping the future does not take it back,
/// unless more than a thousand others wait before it: then it is not done at all. Whoever reads afterwards through this store
/// (or a clone of it) sees what has come of it.
#[derive(Clone)]
pub struct SqliteStore {
    shared: Arc<Shared>,
}

impl SqliteStore {
    /// Opens a file, and makes it first, with the folders above it, if it is not there. Nobody but the user may read a
    /// file that is made here.
    ///
    /// The calling thread waits for the disk; nothing else of the store blocks.
    ///
    /// # Errors
    /// [`NewerFormat`](StoreError::NewerFormat) if a newer version of this crate has written the file, [`Backend`](StoreError::Backend) if
    /// it cannot be opened or is something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path.as_ref(), &Options::new())
    }

    pub(crate) fn open_with(path: &Path, options: &Options) -> Result<Self, StoreError> {
        Shared::open(path, options).map(Self::of).map_err(items::error)
    }

    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// The cache of nodes' results in the same file, over the same threads.
    pub fn cache(&self) -> SqliteCache {
        SqliteCache::of(Arc::clone(&self.shared))
    }

    async fn read<T: Send + 'static>(
        &self,
        what: &'static str,
        query: impl FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.shared.read(about(what), move |db| settle(query(db))).await.map_err(items::error)?
    }

    async fn write_with<T: Send + 'static>(
        &self,
        what: &'static str,
        write: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = move |session: &mut Session| settle(write(&session.db)).map(Turn::Done);
        self.shared.writes.write(about(what), false, run).await.map_err(items::error)?
    }

    /// Lets rows live on, if there are any.
    async fn refresh(&self, rows: Vec<i64>, now: SystemTime) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.write_with("refresh items", move |db| items::refresh(db, &rows, now)).await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl Store for SqliteStore {
    fn get(&self, get: Get) -> StoreFuture<'_, Vec<Option<Item>>> {
        Box::pin(async move {
            let now = get.now;
            let (items, refreshed) = self.read("read items", move |db| items::get(db, &get)).await?;
            self.refresh(refreshed, now).await?;
            Ok(items)
        })
    }

    fn write(&self, writes: ItemWrites) -> StoreFuture<'_, Vec<bool>> {
        Box::pin(self.write_with("write items", move |db| items::write(db, &writes)))
    }

    fn search(&self, search: Search) -> StoreFuture<'_, Page<Found>> {
        Box::pin(async move {
            let now = search.now;
            let (page, refreshed) = self.read("search items", move |db| items::search(db, &search)).await?;
            self.refresh(refreshed, now).await?;
            Ok(page)
        })
    }

    fn namespaces(&self, query: NamespaceQuery) -> StoreFuture<'_, Page<Namespace>> {
        Box::pin(self.read("list namespaces", move |db| items::list(db, &query)))
    }

    fn sweep(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        let mut sweep = Sweep::new(now);
        let run = move |session: &mut Session| sweep.turn(session);
        Box::pin(async move {
            self.shared.writes.write(about("sweep items"), true, run).await.map_err(items::error)?
        })
    }
}
