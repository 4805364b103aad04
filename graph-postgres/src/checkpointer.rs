use std::fmt;
use std::sync::Arc;

use superstep_store::checkpoint::{
    Checkpoint, CheckpointError, CheckpointFuture, CheckpointId, CheckpointQuery, Checkpointer, HistoryEntry,
    Loaded, NamespaceQuery, NamespaceRecord, Page, Prune, Pruned, ThreadQuery, ThreadRecord, WriteBatch,
    check_thread_name,
};

use crate::cache::PostgresCache;
use crate::database::{Connection, Database};
use crate::error::{Error, Failure, Operation};
use crate::options::PostgresOptions;
use crate::prune;
use crate::reader::{self, GetPart, Reader};
use crate::store::PostgresStore;
use crate::transaction::read_only;
use crate::writer::Writer;

/// A checkpoint store in a schema of a PostgreSQL database. Clones share the same connections.
///
/// ```no_run
/// use superstep::checkpoint::Checkpointer as _;
/// use superstep_postgres::PostgresCheckpointer;
///
/// # async fn read() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresCheckpointer::connect("postgres://app@localhost/app").await?;
/// let loaded = store.get("ticket-17", "", None).await?;
/// assert_eq!(loaded.found, None);
/// # Ok(())
/// # }
/// ```
///
/// # Durability
/// When a call has returned, its write is durable as the server's `synchronous_commit` says. Calls that wait at the same time
/// share one transaction. A refused call does not affect the others.
///
/// If the connection is lost during a write, the store connects again and asks the database whether the write was made. It
/// is made once. If no connection can be made within the
/// [retry timeout](PostgresOptions::retry_timeout), the call fails with [`Unavailable`](CheckpointError::Unavailable).
///
/// # Cancel safety
/// The first poll of a call's future submits the call. Writes to a thread are made in the order of their first polls.
/// Dropping the future does not cancel a submitted write, unless more than a thousand other writes are waiting before it:
/// then it is not made at all. A later read through this store or one of its clones sees the result.
///
/// # Runtimes
/// The store has a thread of its own, which drives the connections. So it works with every async runtime, or without one,
/// and no call waits for the server on its caller's thread.
#[derive(Clone)]
pub struct PostgresCheckpointer {
    database: Arc<Database>,
    writer: Arc<Writer>,
}

impl fmt::Debug for PostgresCheckpointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresCheckpointer").field("schema", self.database.schema()).finish_non_exhaustive()
    }
}

impl PostgresCheckpointer {
    /// Connects to a server, with the tables in the schema `superstep`. Creates or migrates them.
    ///
    /// # Errors
    /// - [`NewerFormat`](CheckpointError::NewerFormat) if a newer version of this crate has migrated the schema.
    /// - [`Unavailable`](CheckpointError::Unavailable) if the server cannot be reached.
    /// - [`Backend`](CheckpointError::Backend) if the server refuses the role or a statement.
    pub async fn connect(url: &str) -> Result<Self, CheckpointError> {
        Self::connect_with(url, PostgresOptions::new()).await
    }

    /// Returns options for connecting.
    pub fn options() -> PostgresOptions {
        PostgresOptions::new()
    }

    pub(crate) async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self, CheckpointError> {
        let connected = Database::connect(url, options).await;
        let database = connected.map_err(|failure| failure.checkpoint("connect to the server"))?;
        // A connection stays free for reads.
        let writers = database.options().max_connections.saturating_sub(1).clamp(1, MAX_WRITERS);
        Ok(Self { database, writer: Arc::new(Writer::new(writers)) })
    }

    /// Returns the long-term store in the same schema. It uses the connections of this store.
    pub fn store(&self) -> PostgresStore {
        PostgresStore::of(Arc::clone(&self.database))
    }

    /// Returns the cache of node results in the same schema. It uses the connections of this store.
    pub fn cache(&self) -> PostgresCache {
        PostgresCache::of(Arc::clone(&self.database))
    }

    /// Closes the connections, for all clones of this handle.
    ///
    /// Writes that were submitted before are completed. Later calls fail.
    ///
    /// # Cancel safety
    /// The first poll closes the store for new calls. Call the method again to wait for the end.
    pub async fn close(&self) {
        self.writer.close().await;
        self.database.close();
    }

    /// Reads after all abandoned writes are done.
    async fn read<T, W, F>(&self, operation: &Operation, work: W) -> Result<T, CheckpointError>
    where
        T: Send + 'static,
        W: Fn(Connection, Arc<Database>) -> F + Send + 'static,
        F: Future<Output = Result<T, Error>> + Send,
    {
        self.writer.wait_for_abandoned().await;
        let database = Arc::clone(&self.database);
        let read = move |connection| {
            let work = work(connection, Arc::clone(&database));
            async move {
                match work.await {
                    Ok(found) => Ok(Ok(found)),
                    Err(Error::Corrupt(corruption)) => Ok(Err(corruption)),
                    Err(Error::Failed(failure)) => Err(failure),
                }
            }
        };
        match self.database.read(read).await {
            Ok(Ok(found)) => Ok(found),
            Ok(Err(corruption)) => Err(Error::Corrupt(corruption).of(operation)),
            Err(failure) => Err(failure.checkpoint(operation.name)),
        }
    }

    /// Answers a query, as of one moment.
    async fn answer<Q, T>(
        &self,
        operation: Operation,
        query: Q,
        reader: Reader<Q, T>,
    ) -> Result<T, CheckpointError>
    where
        Q: Send + Sync + 'static,
        T: Send + 'static,
    {
        let query = Arc::new(query);
        let work = move |connection: Connection, database: Arc<Database>| {
            let query = Arc::clone(&query);
            let schema = database.schema().clone();
            async move {
                read_only(connection, &schema, reader::BEGIN, move |client| reader(client, database, query))
                    .await
            }
        };
        self.read(&operation, work).await
    }
}

/// The maximum number of transactions that commit batches at the same time. More of them would hold fewer batches each.
const MAX_WRITERS: usize = 4;

impl PostgresOptions {
    /// Connects to a server as a checkpoint store.
    ///
    /// # Errors
    /// As [`PostgresCheckpointer::connect`].
    pub async fn connect(self, url: &str) -> Result<PostgresCheckpointer, CheckpointError> {
        PostgresCheckpointer::connect_with(url, self).await
    }
}

impl Checkpointer for PostgresCheckpointer {
    fn commit(&self, batch: WriteBatch) -> CheckpointFuture<'_, ()> {
        Box::pin(async move {
            batch.check_limits()?;
            self.writer.commit(&self.database, batch).await
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
        let (thread, namespace) = (Arc::clone(&operation.thread), Arc::clone(&operation.namespace));
        Box::pin(async move {
            let work = move |connection: Connection, database: Arc<Database>| {
                let (thread, namespace) = (Arc::clone(&thread), Arc::clone(&namespace));
                async move {
                    let rows = reader::get(&connection, &database, &thread, &namespace, checkpoint).await;
                    rows.map_err(Error::from)
                }
            };
            let rows = self.read(&operation, work).await?;
            GetPart::decode(&rows).map_err(|error| error.of(&operation))
        })
    }

    fn list(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<Checkpoint>> {
        let operation = Operation::on_namespace("list checkpoints", &query);
        Box::pin(self.answer(operation, query, reader::list))
    }

    fn threads(&self, query: ThreadQuery) -> CheckpointFuture<'_, Page<ThreadRecord>> {
        let operation = Operation { name: "list threads", ..Operation::default() };
        Box::pin(self.answer(operation, query, reader::threads))
    }

    fn history(&self, query: CheckpointQuery) -> CheckpointFuture<'_, Page<HistoryEntry>> {
        let operation = Operation::on_namespace("read a history", &query);
        Box::pin(self.answer(operation, query, reader::history))
    }

    fn namespaces(&self, query: NamespaceQuery) -> CheckpointFuture<'_, Page<NamespaceRecord>> {
        let operation =
            Operation { name: "list namespaces", thread: Arc::clone(&query.thread), ..Operation::default() };
        Box::pin(self.answer(operation, query, reader::namespaces))
    }

    fn delete(&self, thread: &str, epoch: Option<u64>) -> CheckpointFuture<'_, bool> {
        let thread: Arc<str> = thread.into();
        Box::pin(self.writer.delete(&self.database, thread, epoch))
    }

    fn copy(&self, from: &str, to: &str, epoch: Option<u64>) -> CheckpointFuture<'_, ()> {
        let (from, to): (Arc<str>, Arc<str>) = (from.into(), to.into());
        Box::pin(async move {
            check_thread_name(&to)?;
            self.writer.copy(&self.database, from, to, epoch).await
        })
    }

    fn prune(&self, prune: Prune) -> CheckpointFuture<'_, Pruned> {
        Box::pin(async move {
            self.writer.wait_for_abandoned().await;
            let dropped = prune::prune(&self.database, prune).await;
            dropped.map_err(|failure: Failure| failure.checkpoint("prune"))
        })
    }
}
