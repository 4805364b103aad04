use std::fmt;
use std::path::Path;
use std::sync::Arc;

use superstep_store::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, Loaded, Page,
    Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
};

use crate::cache::SqliteCache;
use crate::long_term::SqliteStore;
use crate::options::Options;
use crate::reader;
use crate::shared::Shared;
use crate::trouble::About;
use crate::writer::{self, Pruning, Turn};

/// A store of checkpoints in one SQLite file. A clone is the same store.
///
/// ```
/// use superstep::checkpoint::Checkpointer as _;
/// use superstep_sqlite::SqliteCheckpointer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("threads.db");
/// let store = SqliteCheckpointer::open(path)?;
/// let loaded = store.get("ticket-17", "", None).await?;
/// assert_eq!(loaded.found, None);
/// # Ok(())
/// # }
/// ```
///
/// # Durability
/// A call that has returned is durable as its [`Synchronous`](crate::Synchronous) says. Calls that wait at the same time
/// are written in one transaction, so that they share its price; one that is refused is no concern of the others.
///
/// # Cancel safety
/// A call is handed over at the first poll of its future and done in that order. Dropping the future does not take it back,
/// unless more than a thousand others wait before it: then it is not done at all. Whoever reads afterwards through this
/// store (or a clone of it) sees what has come of it.
///
/// When the last clone is dropped, what was handed over is still written, in the background.
#[derive(Clone)]
pub struct SqliteCheckpointer {
    shared: Arc<Shared>,
}

impl fmt::Debug for SqliteCheckpointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteCheckpointer").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl SqliteCheckpointer {
    /// Opens a file, and makes it first, with the folders above it, if it is not there. Nobody but the user may read a
    /// file that is made here.
    ///
    /// The calling thread waits for the disk; nothing else of the store blocks.
    ///
    /// # Errors
    /// [`NewerFormat`](CheckpointError::NewerFormat) if a newer version of this crate has written the file,
    /// [`Backend`](CheckpointError::Backend) if it cannot be opened or is something else.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::open_with(path.as_ref(), &Options::new())
    }

    /// How a file is to be opened.
    pub fn options() -> Options {
        Options::new()
    }

    pub(crate) fn open_with(path: &Path, options: &Options) -> Result<Self, CheckpointError> {
        Ok(Self { shared: Shared::open(path, options)? })
    }

    /// The long-term store in the same file. It has the threads of this one, so that what both write at the same time is one
    /// transaction.
    ///
    /// ```
    /// use superstep_sqlite::SqliteCheckpointer;
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # #[derive(GraphState, Clone)] struct Count { total: u32 }
    /// # async fn add(count: &Count) -> CountUpdate { Count::update().total(count.total + 1) }
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("app.db");
    /// # let graph = StateGraph::<Count>::new().edge(START, add).edge(add, END).compile()?;
    /// let file = SqliteCheckpointer::open(path)?;
    /// let graph = graph.with_store(file.store()).with_checkpointer(file);
    /// # drop(graph);
    /// # Ok(())
    /// # }
    /// ```
    pub fn store(&self) -> SqliteStore {
        SqliteStore::of(Arc::clone(&self.shared))
    }

    /// The cache of nodes' results in the same file, over the same threads.
    pub fn cache(&self) -> SqliteCache {
        SqliteCache::of(Arc::clone(&self.shared))
    }
}

impl Checkpointer for SqliteCheckpointer {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        let about = About {
            what: "write a checkpoint",
            thread: Arc::clone(&batch.thread),
            namespace: Arc::clone(&batch.namespace),
        };
        let run = move |session: &mut writer::Session| writer::commit(session, &batch).map(Turn::Done);
        Box::pin(self.shared.writes.write(about, false, run))
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        let about = About { what: "read a checkpoint", thread: thread.into(), namespace: namespace.into() };
        let (thread, namespace) = (Arc::clone(&about.thread), Arc::clone(&about.namespace));
        let query = move |db: &_| reader::get(db, &thread, &namespace, checkpoint);
        Box::pin(self.shared.read(about, query))
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        let about = About {
            what: "list checkpoints",
            thread: Arc::clone(&query.thread),
            namespace: Arc::clone(&query.namespace),
        };
        Box::pin(self.shared.read(about, move |db: &_| reader::list(db, &query)))
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        let about = About { what: "list threads", ..About::default() };
        Box::pin(self.shared.read(about, move |db: &_| reader::threads(db, &query)))
    }

    fn delete(&self, thread: &str) -> CheckpointFuture<'_, bool> {
        let thread: Arc<str> = thread.into();
        let about = About { what: "delete a thread", thread: Arc::clone(&thread), ..About::default() };
        let run = move |session: &mut writer::Session| writer::delete(session, &thread).map(Turn::Done);
        Box::pin(self.shared.writes.write(about, true, run))
    }

    fn copy(&self, from: &str, to: &str) -> CheckpointFuture<'_, ()> {
        let (from, to): (Arc<str>, Arc<str>) = (from.into(), to.into());
        let about = About { what: "copy a thread", thread: Arc::clone(&from), ..About::default() };
        let run = move |session: &mut writer::Session| writer::copy(session, &from, &to).map(Turn::Done);
        Box::pin(self.shared.writes.write(about, true, run))
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        let thread = prune.thread.clone().unwrap_or_default();
        let about = About { what: "prune", thread, ..About::default() };
        let mut pruning = Pruning::new(prune);
        let run = move |session: &mut writer::Session| pruning.turn(session);
        Box::pin(self.shared.writes.write(about, true, run))
    }
}
