use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use superstep_store::cache::{Cache, CacheError, CacheFuture, Clear, EntryKey, NewEntry};
use superstep_store::checkpoint::CheckpointError;
use superstep_store::payload::Payload;

use crate::items::operation;
use crate::open_file::OpenFile;
use crate::options::SqliteOptions;
use crate::results::{self, Clearing};
use crate::writer::{Session, WriteStatus};

/// A cache of node results in one SQLite file. Clones share the same open file.
///
/// ```
/// use superstep::cache::CachePolicy;
/// use superstep::{END, GraphState, START, StateGraph};
/// use superstep_sqlite::SqliteCache;
///
/// #[derive(GraphState, Clone)]
/// struct Page {
///     #[state(input)]
///     url: String,
///     text: String,
/// }
///
/// async fn fetch(page: &Page) -> PageUpdate {
///     Page::update().text(format!("content of {}", page.url))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("results.db");
/// let graph = StateGraph::<Page>::new()
///     .edge(START, fetch)
///     .edge(fetch, END)
///     .cache(fetch, CachePolicy::by(|page: &Page| page.url.clone()))
///     .compile()?
///     .with_cache(SqliteCache::open(path)?);
/// graph.run(Page::input("/a")).await?;
/// assert_eq!(graph.clear_cache().await?, 1);
/// # Ok(())
/// # }
/// ```
///
/// The file may also hold checkpoints or a long-term store.
/// [`SqliteCheckpointer::cache`](crate::SqliteCheckpointer::cache) and
/// [`SqliteStore::cache`](crate::SqliteStore::cache) return the cache of an open file; all share one writing thread.
/// Several processes may open the file.
///
/// The cache has no size limit: give results a time to live, or clear it. Results are not encrypted. On Unix, only the
/// owner can read a created file.
///
/// # Durability
/// A stored result is durable as [`Synchronous`](crate::Synchronous) says. For a file that holds only results,
/// [`Normal`](crate::Synchronous::Normal) is enough and does not wait for the disk.
///
/// # Cancel safety
/// The first poll of a call's future submits the call. Calls run in the order of their first polls. Dropping the future
/// does not cancel a submitted call, unless more than a thousand other calls are waiting before it: then the call does
/// not run at all.
///
/// # Closing
/// As for [`SqliteCheckpointer`](crate::SqliteCheckpointer#closing): dropping the last handle closes the file and waits
/// at most one second for it. [`close`](Self::close) waits for the end. Do not delete, rename or replace the file while
/// it is open.
#[derive(Clone)]
pub struct SqliteCache {
    file: Arc<OpenFile>,
}

impl SqliteCache {
    /// Opens a file. Creates it and its parent folders if they do not exist.
    ///
    /// Opening blocks the calling thread until the disk has answered. No other method of the cache blocks.
    ///
    /// # Errors
    /// - [`NewerFormat`](CacheError::NewerFormat) if a newer version of this crate has written the file.
    /// - [`Backend`](CacheError::Backend) if the file cannot be opened, or is not a file of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        Self::open_with(path.as_ref(), &SqliteOptions::new())
    }

    pub(crate) fn open_with(path: &Path, options: &SqliteOptions) -> Result<Self, CacheError> {
        OpenFile::open(path, options).map(Self::of).map_err(cache_error)
    }

    pub(crate) fn of(file: Arc<OpenFile>) -> Self {
        Self { file }
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
    /// [`Backend`](CacheError::Backend) if the log cannot be moved into the file. Every result that was acknowledged is still in
    /// the file and its log.
    ///
    /// # Durability
    /// After `Ok`, all acknowledged writes survive a power cut, also with
    /// [`Synchronous::Normal`](crate::Synchronous::Normal).
    ///
    /// # Cancel safety
    /// The first poll closes the file for new calls. Dropping the future does not stop the closing. Call the method again
    /// to wait for its end.
    pub async fn close(&self) -> Result<(), CacheError> {
        self.file.close().await.map_err(cache_error)
    }
}

impl fmt::Debug for SqliteCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteCache").field("path", &self.file.path).finish_non_exhaustive()
    }
}

impl SqliteOptions {
    /// Opens the file as a cache of node results. Creates it if it does not exist.
    ///
    /// # Errors
    /// As [`SqliteCache::open`].
    pub fn open_cache(self, path: impl AsRef<Path>) -> Result<SqliteCache, CacheError> {
        SqliteCache::open_with(path.as_ref(), &self)
    }
}

impl Cache for SqliteCache {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            let read = self.file.read(operation("read a result"), move |db| results::get(db, &at, now));
            read.await.map_err(cache_error)?
        })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            puts.iter().try_for_each(NewEntry::check_limits)?;
            let run =
                move |session: &mut Session| results::put(&session.db, &puts, now).map(WriteStatus::Done);
            self.file.writes.submit(operation("write results"), false, run).await.map_err(cache_error)
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        let mut clearing = Clearing::new(which);
        let run = move |session: &mut Session| clearing.advance(session);
        Box::pin(async move {
            self.file.writes.submit(operation("clear results"), true, run).await.map_err(cache_error)
        })
    }
}

/// Converts an error of the file to an error of the cache.
fn cache_error(error: CheckpointError) -> CacheError {
    match error {
        CheckpointError::NewerFormat { found, known, .. } => CacheError::newer_format(found, known),
        CheckpointError::Unavailable { operation, source, .. } => CacheError::unavailable(operation, source),
        CheckpointError::Backend { operation, source, .. } => CacheError::backend(operation, source),
        other => CacheError::backend("use the file", other),
    }
}
