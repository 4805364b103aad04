use std::fmt;
use std::path::Path;
use std::sync::Arc;

use superstep_store::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
    check_thread_name,
};

use crate::cache::SqliteCache;
use crate::error::Operation;
use crate::open_file::OpenFile;
use crate::options::SqliteOptions;
use crate::reader;
use crate::store::SqliteStore;
use crate::writer::{self, Pruning, WriteStatus};

/// A checkpoint store in one SQLite file. Clones share the same open file.
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
/// When a call has returned, its write is durable as [`Synchronous`](crate::Synchronous) says. Calls that wait at the
/// same time share one transaction and its cost. A refused call does not affect the others.
///
/// # Cancel safety
/// The first poll of a call's future submits the call. Calls run in the order of their first polls. Dropping the future
/// does not cancel a submitted call, unless more than a thousand other calls are waiting before it: then the call does
/// not run at all. A later read through this store or one of its clones sees the result.
///
/// # Closing
/// Dropping the last handle of a file closes it: the last clone, and the last store that shares the file. The drop waits
/// until the accepted calls are written and the file is closed, but at most one second. If another process locks the
/// file, or a long write is under way, the rest happens in the background. [`close`](Self::close) always waits for the
/// end, and reports errors.
///
/// Do not delete, rename or replace the file while a store has it open. On Unix that is possible: writes then fail with
/// [`Backend`](CheckpointError::Backend) until the file is opened again, and reads return the data of the old file.
///
/// If a newer version of this crate migrates the file while it is open, all calls fail with
/// [`NewerFormat`](CheckpointError::NewerFormat).
#[derive(Clone)]
pub struct SqliteCheckpointer {
    file: Arc<OpenFile>,
}

impl fmt::Debug for SqliteCheckpointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteCheckpointer").field("path", &self.file.path).finish_non_exhaustive()
    }
}

impl SqliteCheckpointer {
    /// Opens a file. Creates it and its parent folders if they do not exist. On Unix, only the owner can read a created
    /// file.
    ///
    /// Opening blocks the calling thread until the disk has answered. No other method of the store waits for the disk on it;
    /// see [how it works](crate#how-it-works).
    ///
    /// # Errors
    /// - [`NewerFormat`](CheckpointError::NewerFormat) if a newer version of this crate has written the file.
    /// - [`Backend`](CheckpointError::Backend) if the file cannot be opened, or is not a file of this crate.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, CheckpointError> {
        Self::open_with(path.as_ref(), &SqliteOptions::new())
    }

    /// Returns options for opening a file.
    pub fn options() -> SqliteOptions {
        SqliteOptions::new()
    }

    pub(crate) fn open_with(path: &Path, options: &SqliteOptions) -> Result<Self, CheckpointError> {
        Ok(Self { file: OpenFile::open(path, options)? })
    }

    /// Returns the long-term store in the same file. It uses the threads of this store, so concurrent writes of both
    /// share one transaction.
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
        SqliteStore::of(Arc::clone(&self.file))
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
    /// ```
    /// use superstep::checkpoint::Checkpointer as _;
    /// use superstep_sqlite::SqliteCheckpointer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("threads.db");
    /// let store = SqliteCheckpointer::open(&path)?;
    /// // Graphs have clones of the store.
    /// let clone = store.clone();
    /// store.close().await?;
    /// assert!(clone.get("ticket-17", "", None).await.is_err());
    /// std::fs::rename(&path, path.with_extension("old"))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Backend`](CheckpointError::Backend) if the log cannot be moved into the file. Everything that was acknowledged is still in
    /// the file and its log.
    ///
    /// # Durability
    /// After `Ok`, all acknowledged writes survive a power cut, also with
    /// [`Synchronous::Normal`](crate::Synchronous::Normal).
    ///
    /// # Cancel safety
    /// The first poll closes the file for new calls. Dropping the future does not stop the closing. Call the method again
    /// to wait for its end.
    pub async fn close(&self) -> Result<(), CheckpointError> {
        self.file.close().await
    }
}

impl SqliteOptions {
    /// Opens the file as a checkpoint store. Creates it if it does not exist.
    ///
    /// # Errors
    /// As [`SqliteCheckpointer::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteCheckpointer, CheckpointError> {
        SqliteCheckpointer::open_with(path.as_ref(), &self)
    }
}

impl Checkpointer for SqliteCheckpointer {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        let operation = Operation {
            name: "write a checkpoint",
            thread: Arc::clone(&batch.thread),
            namespace: Arc::clone(&batch.namespace),
        };
        Box::pin(async move {
            batch.check_limits()?;
            if batch.awaited
                && let Some(done) = self.file.writes.commit_inline(&batch)
            {
                return done;
            }
            let long = writer::rolls_back(&batch);
            let run =
                move |session: &mut writer::Session| writer::commit(session, &batch).map(WriteStatus::Done);
            self.file.writes.submit(operation, long, run).await
        })
    }

    fn get(
        &self,
        thread: &str,
        namespace: &str,
        checkpoint: Option<CheckpointId>,
    ) -> CheckpointFuture<'_, Loaded> {
        let operation =
            Operation { name: "read a checkpoint", thread: thread.into(), namespace: namespace.into() };
        Box::pin(self.file.read_checkpoint(operation, checkpoint))
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        let operation = Operation {
            name: "list checkpoints",
            thread: Arc::clone(&query.thread),
            namespace: Arc::clone(&query.namespace),
        };
        Box::pin(self.file.read(operation, move |db: &_| reader::list(db, &query)))
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        let operation = Operation {
            name: "read a history",
            thread: Arc::clone(&query.thread),
            namespace: Arc::clone(&query.namespace),
        };
        Box::pin(self.file.read(operation, move |db: &_| reader::history(db, &query)))
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        let operation =
            Operation { name: "list namespaces", thread: Arc::clone(&query.thread), ..Operation::default() };
        Box::pin(self.file.read(operation, move |db: &_| reader::namespaces(db, &query)))
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        let operation = Operation { name: "list threads", ..Operation::default() };
        Box::pin(self.file.read(operation, move |db: &_| reader::threads(db, &query)))
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        let thread: Arc<str> = thread.into();
        let operation =
            Operation { name: "delete a thread", thread: Arc::clone(&thread), ..Operation::default() };
        let run = move |session: &mut writer::Session| {
            writer::delete(session, &thread, epoch).map(WriteStatus::Done)
        };
        Box::pin(self.file.writes.submit(operation, true, run))
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        let (from, to): (Arc<str>, Arc<str>) = (from.into(), to.into());
        let operation =
            Operation { name: "copy a thread", thread: Arc::clone(&from), ..Operation::default() };
        Box::pin(async move {
            check_thread_name(&to)?;
            let run = move |session: &mut writer::Session| {
                writer::copy(session, &from, &to, epoch).map(WriteStatus::Done)
            };
            self.file.writes.submit(operation, true, run).await
        })
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        let thread = prune.thread.clone().unwrap_or_default();
        let operation = Operation { name: "prune", thread, ..Operation::default() };
        let mut pruning = Pruning::new(prune);
        let run = move |session: &mut writer::Session| pruning.advance(session);
        Box::pin(self.file.writes.submit(operation, true, run))
    }
}
