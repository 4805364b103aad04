use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use superstep_store::cache::{Cache, CacheError, CacheFuture, Clear, EntryKey, NewEntry};
use superstep_store::payload::Payload;
use tokio_postgres::Client;

use crate::database::Database;
use crate::dropped::{Dropped, submit};
use crate::error::Failure;
use crate::options::PostgresOptions;
use crate::results::{self, Puts, Statements};
use crate::transaction::Work;

/// A cache of node results in a schema of a PostgreSQL database. Clones share the same connections.
///
/// ```no_run
/// use superstep::cache::CachePolicy;
/// use superstep::{END, GraphState, START, StateGraph};
/// use superstep_postgres::PostgresCache;
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
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let cache = PostgresCache::connect("postgres://app@db.internal/app").await?;
/// let graph = StateGraph::<Page>::new()
///     .edge(START, fetch)
///     .edge(fetch, END)
///     .cache(fetch, CachePolicy::by(|page: &Page| page.url.clone()))
///     .compile()?
///     .with_cache(cache.max_results(100_000));
/// graph.run(Page::input("/a")).await?;
/// # Ok(())
/// # }
/// ```
///
/// The schema may also hold checkpoints and a long-term store.
/// [`PostgresCheckpointer::cache`](crate::PostgresCheckpointer::cache) and
/// [`PostgresStore::cache`](crate::PostgresStore::cache) return the cache of the same schema, with the same connections. Any
/// number of programs may use it.
///
/// # Size
/// The cache keeps the results of the last million puts, or of as many as [`max_results`](Self::max_results) says. Each put
/// deletes a bounded number of older results and of expired ones. `clear` with
/// [`Clear::Expired`] deletes all expired ones.
///
/// Results are not encrypted. A role that can read the tables can read them.
///
/// # Durability
/// A stored result is durable as the server's `synchronous_commit` says.
///
/// # Cancel safety
/// The first poll of a writing call submits it. Dropping its future does not cancel it. A later call through this cache or one
/// of its clones waits for it, and sees its result.
#[derive(Clone)]
pub struct PostgresCache {
    database: Arc<Database>,
    shared: Arc<Shared>,
    max_results: u64,
}

struct Shared {
    statements: Statements,
    dropped: Dropped,
}

/// The default of [`PostgresCache::max_results`].
const MAX_RESULTS: u64 = 1_000_000;

impl PostgresCache {
    /// Connects to a server, with the tables in the schema `superstep`. Creates or migrates them.
    ///
    /// # Errors
    /// - [`NewerFormat`](CacheError::NewerFormat) if a newer version of this crate has migrated the schema.
    /// - [`Unavailable`](CacheError::Unavailable) if the server cannot be reached.
    /// - [`Backend`](CacheError::Backend) if the server refuses the role or a statement.
    pub async fn connect(url: &str) -> Result<Self, CacheError> {
        Self::connect_with(url, PostgresOptions::new()).await
    }

    pub(crate) async fn connect_with(url: &str, options: PostgresOptions) -> Result<Self, CacheError> {
        let connected = Database::connect(url, options).await;
        connected.map(Self::of).map_err(|failure| failure.cache("connect to the server"))
    }

    pub(crate) fn of(database: Arc<Database>) -> Self {
        let statements = Statements::new(&database.schema().to_string());
        let shared = Arc::new(Shared { statements, dropped: Dropped::default() });
        Self { database, shared, max_results: MAX_RESULTS }
    }

    /// Keeps only the results of the last `results` puts; at least one. Programs with different numbers may use the same
    /// schema: each put keeps as many as its program says.
    #[must_use]
    pub fn max_results(self, results: u64) -> Self {
        Self { max_results: results.max(1), ..self }
    }

    /// Makes a write in a transaction of its own.
    async fn submit<T: Send + 'static>(
        &self,
        name: &'static str,
        write: impl for<'c> Fn(&'c Client, Arc<Shared>) -> Work<'c, T, Failure> + Send + Sync + 'static,
    ) -> Result<T, CacheError> {
        let done = submit(&self.database, &self.shared.dropped, &self.shared, write).await;
        done.map_err(|failure| failure.cache(name))
    }
}

impl fmt::Debug for PostgresCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresCache").field("schema", self.database.schema()).finish_non_exhaustive()
    }
}

impl PostgresOptions {
    /// Connects to a server as a cache of node results.
    ///
    /// # Errors
    /// As [`PostgresCache::connect`].
    pub async fn connect_cache(self, url: &str) -> Result<PostgresCache, CacheError> {
        PostgresCache::connect_with(url, self).await
    }
}

impl Cache for PostgresCache {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            self.shared.dropped.settle().await;
            let call = Arc::new((Arc::clone(&self.shared), at));
            let done = self.database.read(move |connection| {
                let call = Arc::clone(&call);
                async move { results::get(&connection, &call.0.statements, &call.1, now).await }
            });
            done.await.map_err(|failure| failure.cache("read a result"))?
        })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            puts.iter().try_for_each(NewEntry::check_limits)?;
            let (puts, max_results) = (Arc::new(Puts::new(puts, now)), self.max_results);
            self.submit("write results", move |client, shared| {
                let puts = Arc::clone(&puts);
                Box::pin(async move { results::put(client, &shared.statements, &puts, max_results).await })
            })
            .await
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        let which = Arc::new(which);
        Box::pin(self.submit("clear results", move |client, shared| {
            let which = Arc::clone(&which);
            Box::pin(async move { results::clear(client, &shared.statements, &which).await })
        }))
    }
}
