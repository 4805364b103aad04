use std::time::Duration;

/// Options for connecting to a server.
///
/// ```no_run
/// use std::time::Duration;
///
/// use superstep_postgres::PostgresCheckpointer;
///
/// # async fn connect() -> Result<(), Box<dyn std::error::Error>> {
/// let store = PostgresCheckpointer::options()
///     .schema("agents")
///     .max_connections(16)
///     .retry_timeout(Duration::from_secs(10))
///     .connect("postgres://app@db.internal/app")
///     .await?;
/// # drop(store);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct PostgresOptions {
    pub(crate) schema: String,
    pub(crate) max_connections: usize,
    pub(crate) connect_timeout: Duration,
    pub(crate) pool_timeout: Duration,
    pub(crate) retry_timeout: Duration,
    pub(crate) migrate: bool,
    pub(crate) prepared_statements: bool,
    #[cfg(feature = "rustls")]
    pub(crate) root_certificates: Vec<u8>,
}

impl PostgresOptions {
    /// Returns the options that [`PostgresCheckpointer::connect`](crate::PostgresCheckpointer::connect) uses:
    ///
    /// - the schema `superstep`,
    /// - at most ten connections,
    /// - five seconds to establish a connection, and five to wait for a free one,
    /// - thirty seconds in which a call connects again after it has lost its connection,
    /// - migration of the schema,
    /// - statements without names, which any pooler forwards.
    pub fn new() -> Self {
        Self {
            schema: "superstep".to_owned(),
            max_connections: 10,
            connect_timeout: Duration::from_secs(5),
            pool_timeout: Duration::from_secs(5),
            retry_timeout: Duration::from_secs(30),
            migrate: true,
            prepared_statements: false,
            #[cfg(feature = "rustls")]
            root_certificates: Vec::new(),
        }
    }

    /// Sets the schema with the tables. Any name that PostgreSQL accepts is allowed, except `$user`: 1 to 63 bytes, without
    /// a null character. The first program that connects creates the schema, unless it exists.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets the maximum number of connections to the server; at least one.
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections.max(1);
        self
    }

    /// Sets how long it may take to establish a connection. If the URL names several servers, each of them has this time.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long a call waits for a free connection before it fails with
    /// [`Unavailable`](superstep_store::checkpoint::CheckpointError::Unavailable).
    #[must_use]
    pub fn pool_timeout(mut self, timeout: Duration) -> Self {
        self.pool_timeout = timeout;
        self
    }

    /// Sets how long a call tries to connect again after the server or the connection has failed. Then it fails with
    /// [`Unavailable`](superstep_store::checkpoint::CheckpointError::Unavailable).
    #[must_use]
    pub fn retry_timeout(mut self, timeout: Duration) -> Self {
        self.retry_timeout = timeout;
        self
    }

    /// Sets whether connecting creates and migrates the tables. With `false`, connecting fails if they do not have the
    /// format of this program, and the role needs no right to create anything.
    #[must_use]
    pub fn migrate(mut self, migrate: bool) -> Self {
        self.migrate = migrate;
        self
    }

    /// Sets whether the statements that commit and read a checkpoint stay prepared on each connection.
    ///
    /// A call then takes about a tenth of a millisecond less of the server's time. Do not set it if a pooler between this
    /// program and the server shares connections among clients (pgbouncer with `pool_mode = transaction`), unless the pooler
    /// tracks prepared statements: a statement of another client could run instead.
    #[must_use]
    pub fn prepared_statements(mut self, prepared: bool) -> Self {
        self.prepared_statements = prepared;
        self
    }

    /// Sets the certificates that a server may be signed by, in PEM format, instead of those of the platform.
    #[cfg(feature = "rustls")]
    #[must_use]
    pub fn root_certificates(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.root_certificates = pem.into();
        self
    }
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self::new()
    }
}
