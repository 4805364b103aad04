use std::fmt;
use std::future::Future;
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, QueueMode, RecyclingMethod};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, Row};

use crate::columns::Param;
use crate::connect::Connector;
use crate::error::Failure;
use crate::options::PostgresOptions;
use crate::runtime::Runtime;
use crate::schema::{self, SchemaName};

/// A connection, lent by the pool.
pub(crate) type Connection = Object;

/// A schema on a server, with the connections to it. Checkpointer, long-term store and cache share it.
pub(crate) struct Database {
    pool: Pool,
    schema: SchemaName,
    statements: Statements,
    options: PostgresOptions,
    // Last: the connections end before their runtime.
    runtime: Runtime,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URL may contain a password.
        f.debug_struct("Database").field("schema", &self.schema).finish_non_exhaustive()
    }
}

impl Database {
    /// Connects to a server, and creates or migrates the schema.
    pub(crate) async fn connect(url: &str, options: PostgresOptions) -> Result<Arc<Self>, Failure> {
        let mut config = Config::from_str(url).map_err(|error| {
            let cause =
                std::error::Error::source(&error).map_or_else(String::new, |cause| format!(": {cause}"));
            Failure::backend(format!(
                "the URL is not a connection string of PostgreSQL{cause}: write `postgres://user@host/database`"
            ))
        })?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err(Failure::backend("the URL names no server: write `postgres://user@host/database`"));
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(options.connect_timeout);
        }
        if config.get_application_name().is_none() {
            config.application_name("superstep");
        }
        notice_silence(&mut config);
        let schema = SchemaName::new(&options.schema)?;
        let servers = u32::try_from(crate::hosts::each(&config).len()).unwrap_or(u32::MAX);
        let connector = Connector::new(&config, &options)?;
        let manager = Manager::from_connect(
            config,
            connector,
            ManagerConfig { recycling_method: RecyclingMethod::Fast },
        );
        let pool = Pool::builder(manager)
            .max_size(options.max_connections)
            // The connection that was used last has its plans and its pages in the processor's caches.
            .queue_mode(QueueMode::Lifo)
            .wait_timeout(Some(options.pool_timeout))
            .create_timeout(Some(options.connect_timeout.saturating_mul(servers)))
            .runtime(deadpool_postgres::Runtime::Tokio1)
            .build()
            .map_err(Failure::backend)?;
        let runtime = Runtime::start().map_err(Failure::backend)?;
        let statements = Statements::new(&schema);
        let database = Arc::new(Self { pool, schema, statements, options, runtime });
        let migrate = database.options.migrate;
        let name = database.schema.clone();
        database
            .run(move |mut connection| {
                let name = name.clone();
                async move { schema::open(&mut connection, &name, migrate).await }
            })
            .await?;
        Ok(database)
    }

    /// The name of the schema, quoted for a statement.
    pub(crate) fn schema(&self) -> &SchemaName {
        &self.schema
    }

    /// The calls of functions of the schema.
    pub(crate) fn statements(&self) -> &Statements {
        &self.statements
    }

    /// Calls a function of the schema and reads all its rows, in one round trip.
    pub(crate) async fn call(
        &self,
        connection: &Connection,
        statement: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, Failure> {
        if !self.options.prepared_statements {
            return query(connection, statement, params).await;
        }
        let types: Vec<Type> = params.iter().map(|(_, kind)| kind.clone()).collect();
        let statement = connection.prepare_typed_cached(statement, &types).await?;
        let values: Vec<&(dyn ToSql + Sync)> = params.iter().map(|(value, _)| *value).collect();
        Ok(connection.query(&statement, &values).await?)
    }

    pub(crate) fn options(&self) -> &PostgresOptions {
        &self.options
    }

    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns a live connection. Call this on the thread of the store.
    pub(crate) async fn connection(&self) -> Result<Connection, Failure> {
        Ok(self.pool.get().await?)
    }

    /// Runs work on a connection, on the thread of the store.
    ///
    /// The work is completed even if this call is dropped. If the connection is lost, the work runs again on another one,
    /// so it must be repeatable.
    pub(crate) async fn run<T, W, F>(self: &Arc<Self>, work: W) -> Result<T, Failure>
    where
        T: Send + 'static,
        W: FnMut(Connection) -> F + Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let database = Arc::clone(self);
        let done = self.runtime.run(async move { database.attempt(work).await }).await;
        done.unwrap_or_else(|| Err(stopped()))
    }

    /// Like [`run`](Self::run), but stops when this call is dropped. For work that only reads.
    pub(crate) async fn read<T, W, F>(self: &Arc<Self>, work: W) -> Result<T, Failure>
    where
        T: Send + 'static,
        W: FnMut(Connection) -> F + Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let database = Arc::clone(self);
        let done = self.runtime.run_while_awaited(async move { database.attempt(work).await }).await;
        done.unwrap_or_else(|| Err(stopped()))
    }

    /// Runs work until it succeeds, fails for good, or the retry timeout has passed.
    pub(crate) async fn attempt<T, W, F>(&self, mut work: W) -> Result<T, Failure>
    where
        W: FnMut(Connection) -> F,
        F: Future<Output = Result<T, Failure>>,
    {
        let mut backoff = Backoff::new(self.options.retry_timeout);
        loop {
            let done = match self.connection().await {
                Ok(connection) => work(connection).await,
                Err(failure) => Err(failure),
            };
            match done {
                Err(failure) if failure.is_passing() => backoff.wait(failure).await?,
                done => return done,
            }
        }
    }

    /// Closes all connections. Calls that have one are completed; later calls fail.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

/// The calls of functions of the schema.
pub(crate) struct Statements {
    commit: String,
    delete: String,
    copy: String,
    get: String,
}

impl Statements {
    fn new(schema: &SchemaName) -> Self {
        let call = |function: &str, params: usize| {
            let params: Vec<String> = (1..=params).map(|nth| format!("${nth}")).collect();
            format!("SELECT * FROM {schema}.{function}({})", params.join(", "))
        };
        Self {
            commit: call("commit", crate::writer::COMMIT_PARAMS),
            delete: call("delete_thread", 3),
            copy: call("copy_thread", 5),
            get: call("get", 4),
        }
    }

    pub(crate) fn commit(&self) -> &str {
        &self.commit
    }

    pub(crate) fn delete(&self) -> &str {
        &self.delete
    }

    pub(crate) fn copy(&self) -> &str {
        &self.copy
    }

    pub(crate) fn get(&self) -> &str {
        &self.get
    }
}

/// Lets connections to a machine that has vanished end within about a minute, unless the URL has other times. The systems
/// wait for a quarter of an hour for an answer to a statement, and for two hours on an idle connection.
fn notice_silence(config: &mut Config) {
    if config.get_keepalives_idle() == Config::new().get_keepalives_idle() {
        config.keepalives_idle(Duration::from_secs(30));
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(Duration::from_secs(10));
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(3);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(60));
    }
}

fn stopped() -> Failure {
    Failure::backend("the thread of the store has stopped: connect again")
}

/// Reads all rows of a statement, in one round trip. The statement has no name, so that poolers forward it.
pub(crate) async fn query(
    client: &Client,
    statement: &str,
    params: &[Param<'_>],
) -> Result<Vec<Row>, Failure> {
    Ok(client.query_typed(statement, params).await?)
}

/// Waits between attempts, each time longer, until a timeout has passed.
#[derive(Debug)]
pub(crate) struct Backoff {
    /// `None` if the timeout is longer than any clock.
    until: Option<Instant>,
    next: Duration,
}

/// The longest wait between two attempts. A server that restarts is found again within it.
const MAX_WAIT: Duration = Duration::from_secs(1);

impl Backoff {
    pub(crate) fn new(timeout: Duration) -> Self {
        Self { until: Instant::now().checked_add(timeout), next: Duration::ZERO }
    }

    /// Waits, or returns the failure if the timeout has passed.
    pub(crate) async fn wait(&mut self, failure: Failure) -> Result<(), Failure> {
        if self.until.is_some_and(|until| Instant::now() + self.next > until) {
            return Err(failure);
        }
        // The first attempt follows at once: a pool may hold connections that a restart of the server has ended.
        if self.next.is_zero() {
            self.next = Duration::from_millis(20);
            return Ok(());
        }
        tokio::time::sleep(self.next).await;
        self.next = (self.next * 2).min(MAX_WAIT);
        Ok(())
    }
}
