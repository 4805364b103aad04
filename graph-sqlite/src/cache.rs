use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use superstep_store::cache::{Cache, CacheError, CacheFuture, Clear, EntryKey, NewEntry};
use superstep_store::checkpoint::CheckpointError;
use superstep_store::payload::Payload;

use crate::items::about;
use crate::options::Options;
use crate::results::{self, Clearing};
use crate::shared::Shared;
use crate::writer::{Session, Turn};

/// A cache of nodes' results in one SQLite file. A clone is the same cache.
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
///     Page::update().text(format!("what is at {}", page.url))
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
/// The file may be one in which checkpoints or a long-term store are: [`SqliteCheckpointer::cache`](crate::SqliteCheckpointer::cache)
/// and [`SqliteStore::cache`](crate::SqliteStore::cache) give the cache in it, and all write with one thread. Several processes
/// may have it open.
///
/// There is no bound on how much is in it: give results a time to live, or clear it. What is in the file is not encrypted. A file
/// that is made here can be read by its owner only.
///
/// # Durability
/// What has been put is durable as [`Synchronous`](crate::Synchronous) says. For a file that has nothing but results in it,
/// [`Normal`](crate::Synchronous::Normal) is enough, and does not wait for the disk.
///
/// # Cancel safety
/// A call is handed over at the first poll of its future and done in that order. Dropping the future does not take it back,
/// unless more than a thousand others wait before it: then it is not done at all.
#[derive(Clone)]
pub struct SqliteCache {
    shared: Arc<Shared>,
}

impl SqliteCache {
    /// Opens a file, and makes it first, with the folders above it, if it is not there.
    ///
    /// The calling thread waits for the disk; nothing else of the cache blocks.
    ///
    /// # Errors
    /// [`NewerFormat`](CacheError::NewerFormat) if a newer version of this crate has written the file, [`Backend`](CacheError::Backend) if
    /// it cannot be opened or is something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CacheError> {
        Self::open_with(path.as_ref(), &Options::new())
    }

    pub(crate) fn open_with(path: &Path, options: &Options) -> Result<Self, CacheError> {
        Shared::open(path, options).map(Self::of).map_err(error)
    }

    pub(crate) fn of(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl fmt::Debug for SqliteCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteCache").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl Cache for SqliteCache {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            let read = self.shared.read(about("look for a result"), move |db| results::get(db, &at, now));
            read.await.map_err(error)?
        })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        let run = move |session: &mut Session| results::put(&session.db, &puts, now).map(Turn::Done);
        Box::pin(
            async move { self.shared.writes.write(about("put results"), false, run).await.map_err(error) },
        )
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        let mut clearing = Clearing::new(which);
        let run = move |session: &mut Session| clearing.turn(session);
        Box::pin(
            async move { self.shared.writes.write(about("clear results"), true, run).await.map_err(error) },
        )
    }
}

/// An error of the file, as one of the cache.
fn error(error: CheckpointError) -> CacheError {
    match error {
        CheckpointError::NewerFormat { found, known } => CacheError::NewerFormat { found, known },
        CheckpointError::Backend { what, source } => CacheError::Backend { what, source },
        other => CacheError::backend("use the file", other),
    }
}
