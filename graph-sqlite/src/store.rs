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
use crate::items::{self, ExpiredDeletion, ItemError, operation, separate_refusal};
use crate::open_file::OpenFile;
use crate::options::SqliteOptions;
use crate::writer::{Session, WriteStatus};

/// A long-term store in one SQLite file. Clones share the same open file.
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
/// The file may also hold checkpoints. [`SqliteCheckpointer::store`](crate::SqliteCheckpointer::store) returns the
/// long-term store of an open file; both share one writing thread. Several processes may open the file.
///
/// Reading an item costs two index lookups. A search reads the items of its namespace, and by default of the namespaces
/// inside it, until its page is full. A search by meaning reads all of them; see
/// [`Index`](superstep_store::store::Index).
///
/// Items are not encrypted: any reader of the file can read the values. On Unix, only the owner can read a created
/// file.
///
/// # Durability
/// When a call has returned, its write is durable as [`Synchronous`](crate::Synchronous) says. Calls that wait at the
/// same time share one transaction.
///
/// # Cancel safety
/// The first poll of a call's future submits the call. Calls run in the order of their first polls. Dropping the future
/// does not cancel a submitted call, unless more than a thousand other calls are waiting before it: then the call does
/// not run at all. A later read through this store or one of its clones sees the result.
///
/// # Closing
/// As for [`SqliteCheckpointer`](crate::SqliteCheckpointer#closing): dropping the last handle closes the file and waits
/// at most one second for it. [`close`](Self::close) waits for the end. Do not delete, rename or replace the file while
/// it is open.
#[derive(Clone)]
pub struct SqliteStore {
    file: Arc<OpenFile>,
}

impl SqliteStore {
    /// Opens a file. Creates it and its parent folders if they do not exist. On Unix, only the owner can read a created
    /// file.
    ///
    /// Opening blocks the calling thread until the disk has answered. No other method of the store waits for the disk on it.
    ///
    /// # Errors
    /// - [`NewerFormat`](StoreError::NewerFormat) if a newer version of this crate has written the file.
    /// - [`Backend`](StoreError::Backend) if the file cannot be opened, or is not a file of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path.as_ref(), &SqliteOptions::new())
    }

    pub(crate) fn open_with(path: &Path, options: &SqliteOptions) -> Result<Self, StoreError> {
        OpenFile::open(path, options).map(Self::of).map_err(items::store_error)
    }

    pub(crate) fn of(file: Arc<OpenFile>) -> Self {
        Self { file }
    }

    /// Returns the cache of node results in the same file. It uses the threads of this store.
    pub fn cache(&self) -> SqliteCache {
        SqliteCache::of(Arc::clone(&self.file))
    }

    /// Closes the file, for all clones of this handle and for all stores that share the file.
    ///
    /// Calls that were polled before are completed. Later calls fail. Then the write-ahead log is moved into the file,
    /// and the file is closed. After that, the file can be copied, renamed or deleted, and its `-wal` file is no longer
    /// needed, unless another process uses the file.
    ///
    /// Closing a closed file waits until it is closed, and returns the same result.
    ///
    /// # Errors
    /// [`Backend`](StoreError::Backend) if the log cannot be moved into the file. Everything that was acknowledged is still in
    /// the file and its log.
    ///
    /// # Durability
    /// After `Ok`, all acknowledged writes survive a power cut, also with
    /// [`Synchronous::Normal`](crate::Synchronous::Normal).
    ///
    /// # Cancel safety
    /// The first poll closes the file for new calls. Dropping the future does not stop the closing. Call the method again
    /// to wait for its end.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.file.close().await.map_err(items::store_error)
    }

    async fn read<T: Send + 'static>(
        &self,
        name: &'static str,
        query: impl FnOnce(&Connection) -> Result<T, ItemError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.file
            .read(operation(name), move |db| separate_refusal(query(db)))
            .await
            .map_err(items::store_error)?
    }

    async fn write_with<T: Send + 'static>(
        &self,
        name: &'static str,
        write: impl Fn(&Connection) -> Result<T, ItemError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let run = move |session: &mut Session| separate_refusal(write(&session.db)).map(WriteStatus::Done);
        self.file.writes.submit(operation(name), false, run).await.map_err(items::store_error)?
    }

    /// Restarts the time to live of these rows.
    async fn refresh(&self, rows: Vec<i64>, now: SystemTime) -> Result<(), StoreError> {
        if rows.is_empty() {
            return Ok(());
        }
        self.write_with("refresh items", move |db| items::refresh(db, &rows, now)).await
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.file.path).finish_non_exhaustive()
    }
}

impl SqliteOptions {
    /// Opens the file as a long-term store. Creates it if it does not exist.
    ///
    /// # Errors
    /// As [`SqliteStore::open`].
    pub fn open_store(self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        SqliteStore::open_with(path.as_ref(), &self)
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
        Box::pin(async move {
            writes.check_limits()?;
            self.write_with("write items", move |db| items::write(db, &writes)).await
        })
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

    fn delete_expired(&self, now: SystemTime) -> StoreFuture<'_, u64> {
        let mut deletion = ExpiredDeletion::new(now);
        let run = move |session: &mut Session| deletion.advance(session);
        Box::pin(async move {
            self.file
                .writes
                .submit(operation("delete expired items"), true, run)
                .await
                .map_err(items::store_error)?
        })
    }
}
