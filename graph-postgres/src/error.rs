//! Failures of the server and of the connection, before they become the errors of one of the stores.

use std::error::Error as StdError;
use std::sync::Arc;

use deadpool_postgres::PoolError;
use deadpool_postgres::TimeoutType;
use superstep_store::cache::CacheError;
use superstep_store::checkpoint::{CheckpointError, CheckpointId, CheckpointQuery, CorruptCheckpoint};
use superstep_store::store::StoreError;
use tokio_postgres::error::{DbError, SqlState};

type Source = Box<dyn StdError + Send + Sync>;

/// An error of a checkpoint store, before the thread and the namespace are added.
#[derive(Debug)]
pub(crate) enum Error {
    /// Stored data cannot be read.
    Corrupt(Corruption),
    /// The database failed.
    Failed(Failure),
}

/// The unreadable part, and the reason.
#[derive(Debug)]
pub(crate) struct Corruption {
    pub(crate) checkpoint: Option<CheckpointId>,
    pub(crate) part: String,
    pub(crate) reason: String,
}

impl Corruption {
    pub(crate) fn of(self, thread: Arc<str>, namespace: Arc<str>) -> CorruptCheckpoint {
        let Self { checkpoint, part, reason } = self;
        CorruptCheckpoint::new(thread, namespace, checkpoint, part, reason)
    }
}

/// The call that an error belongs to, and its target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) thread: Arc<str>,
    pub(crate) namespace: Arc<str>,
}

impl Operation {
    /// Returns a call for the namespace of a query.
    pub(crate) fn on_namespace(name: &'static str, query: &CheckpointQuery) -> Self {
        let (thread, namespace) = (Arc::clone(&query.thread), Arc::clone(&query.namespace));
        Self { name, thread, namespace }
    }
}

impl Error {
    pub(crate) fn corrupt(
        part: impl Into<String>,
        checkpoint: Option<CheckpointId>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Corrupt(Corruption { checkpoint, part: part.into(), reason: reason.into() })
    }

    /// Adds the location to a corruption that has none yet. Leaves other errors unchanged.
    pub(crate) fn locate(self, part: impl FnOnce() -> String, checkpoint: Option<CheckpointId>) -> Self {
        match self {
            Self::Corrupt(corruption) if corruption.checkpoint.is_none() => {
                Self::corrupt(part(), checkpoint, format!("{}: {}", corruption.part, corruption.reason))
            }
            other => other,
        }
    }

    pub(crate) fn of(self, operation: &Operation) -> CheckpointError {
        match self {
            Self::Corrupt(corruption) => {
                let (thread, namespace) = (Arc::clone(&operation.thread), Arc::clone(&operation.namespace));
                CheckpointError::corrupt(corruption.of(thread, namespace))
            }
            Self::Failed(failure) => failure.checkpoint(operation.name),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// A failure below the stores.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The connection is lost, or could not be established. The call may or may not have taken effect.
    Lost(Source),
    /// The server has rolled the transaction back because of other transactions. The same call may succeed at once.
    Collision(Source),
    /// The same call may succeed later. It has had no effect.
    Unavailable(Source),
    /// The call fails until the program, its configuration or the server is changed. It has had no effect.
    Backend(Source),
    /// A newer version of this crate has migrated the schema.
    NewerFormat { found: u32, known: u32 },
}

impl Failure {
    pub(crate) fn lost(source: impl Into<Source>) -> Self {
        Self::Lost(source.into())
    }

    pub(crate) fn unavailable(source: impl Into<Source>) -> Self {
        Self::Unavailable(source.into())
    }

    pub(crate) fn backend(source: impl Into<Source>) -> Self {
        Self::Backend(source.into())
    }

    /// Returns `true` if a connection is of no more use.
    pub(crate) fn ends_connection(&self) -> bool {
        // A standby stays one, but another server may take its place.
        matches!(self, Self::Lost(_) | Self::Unavailable(_))
    }

    /// Returns the same failure for another call.
    pub(crate) fn again(&self) -> Self {
        match self {
            Self::Lost(source) => Self::lost(source.to_string()),
            Self::Collision(source) => Self::Collision(source.to_string().into()),
            Self::Unavailable(source) => Self::unavailable(source.to_string()),
            Self::Backend(source) => Self::backend(source.to_string()),
            Self::NewerFormat { found, known } => Self::NewerFormat { found: *found, known: *known },
        }
    }

    /// Returns `true` if the same call may succeed on another connection, or at once.
    pub(crate) fn is_passing(&self) -> bool {
        matches!(self, Self::Lost(_) | Self::Collision(_))
    }

    /// Returns the error of a call to a closed store.
    pub(crate) fn closed() -> Self {
        Self::backend("the store was closed: connect again")
    }

    /// Converts the failure to an error of a checkpoint store. `operation` follows on "the store could not".
    pub(crate) fn checkpoint(self, operation: &'static str) -> CheckpointError {
        match self {
            Self::Lost(source) | Self::Collision(source) | Self::Unavailable(source) => {
                CheckpointError::unavailable(operation, source)
            }
            Self::Backend(source) => CheckpointError::backend(operation, source),
            Self::NewerFormat { found, known } => CheckpointError::newer_format(found, known),
        }
    }

    /// Converts the failure to an error of a long-term store.
    pub(crate) fn store(self, operation: &'static str) -> StoreError {
        match self {
            Self::Lost(source) | Self::Collision(source) | Self::Unavailable(source) => {
                StoreError::unavailable(operation, source)
            }
            Self::Backend(source) => StoreError::backend(operation, source),
            Self::NewerFormat { found, known } => StoreError::newer_format(found, known),
        }
    }

    /// Converts the failure to an error of a cache.
    pub(crate) fn cache(self, operation: &'static str) -> CacheError {
        match self {
            Self::Lost(source) | Self::Collision(source) | Self::Unavailable(source) => {
                CacheError::unavailable(operation, source)
            }
            Self::Backend(source) => CacheError::backend(operation, source),
            Self::NewerFormat { found, known } => CacheError::newer_format(found, known),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost(source)
            | Self::Collision(source)
            | Self::Unavailable(source)
            | Self::Backend(source) => source.fmt(f),
            Self::NewerFormat { found, known } => write!(f, "format {found} is newer than {known}"),
        }
    }
}

/// The SQLSTATE with which functions of the schema refuse a program of another format. The message is the format.
const OTHER_FORMAT: &str = "SS001";

/// The SQLSTATE with which functions of the schema refuse another isolation level.
const OTHER_ISOLATION: &str = "SS002";

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        match error.as_db_error() {
            Some(answer) => answered(answer),
            None if is_conversion(&error) => Self::backend(error),
            // A certificate does not become valid by waiting.
            None if error.to_string().starts_with("error performing TLS handshake") => {
                Self::backend(format!(
                    "no verified TLS connection to the server can be made: pass its `root_certificates`, or use another `sslmode` ({})",
                    chain(&error)
                ))
            }
            None => Self::lost(format!("the connection to the server failed: {}", chain(&error))),
        }
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Timeout(TimeoutType::Wait) => Self::unavailable(
                "all connections were in use for longer than the pool timeout: raise `max_connections` or the timeout",
            ),
            PoolError::Timeout(_) => {
                Self::lost("the server did not accept a connection within the connect timeout")
            }
            PoolError::Closed => Self::closed(),
            other => Self::backend(other),
        }
    }
}

/// Converts an answer of the server. It quotes the message, but not the detail, which may contain stored values.
fn answered(answer: &DbError) -> Failure {
    let code = answer.code();
    if code.code() == OTHER_FORMAT {
        let found = answer.message().parse().unwrap_or(u32::MAX);
        return crate::schema::other_format(found);
    }
    if code.code() == OTHER_ISOLATION {
        return Failure::backend(format!(
            "the role has the isolation level `{}`, but commits need `read committed`: set `default_transaction_isolation` for the role",
            answer.message()
        ));
    }
    let with = |advice: &str| format!("{advice} ({}: {})", code.code(), answer.message());
    let class = code.code().get(..2).unwrap_or_default();
    match *code {
        SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
            Failure::Collision(with("other transactions were in the way: try again").into())
        }
        SqlState::TOO_MANY_CONNECTIONS => Failure::lost(with(
            "the server accepts no more connections: lower `max_connections` of the programs, raise that of the server, or use a pooler",
        )),
        SqlState::ADMIN_SHUTDOWN
        | SqlState::CRASH_SHUTDOWN
        | SqlState::CANNOT_CONNECT_NOW
        | SqlState::IDLE_SESSION_TIMEOUT
        | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
            Failure::lost(with("the server has ended the connection"))
        }
        _ if class == "08" => Failure::lost(with("the connection to the server failed")),
        SqlState::READ_ONLY_SQL_TRANSACTION => Failure::unavailable(with(
            "the server is a standby, which only reads, or `default_transaction_read_only` is set: connect to the primary, or name all servers in the URL with `target_session_attrs=read-write`",
        )),
        SqlState::QUERY_CANCELED => Failure::unavailable(with(
            "the server has cancelled the statement: raise `statement_timeout` for the role, or try again",
        )),
        SqlState::LOCK_NOT_AVAILABLE => Failure::unavailable(with(
            "another transaction has locked the rows for too long: look for sessions that are idle in a transaction, or try again",
        )),
        _ if class == "53" => {
            Failure::unavailable(with("the server has run out of a resource: free it, or try again later"))
        }
        SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT => Failure::backend(with(
            "a pooler shares the connections among clients, and does not track prepared statements: connect without `prepared_statements`",
        )),
        SqlState::INSUFFICIENT_PRIVILEGE => Failure::backend(with(
            "the role lacks a privilege: grant it, or connect as the role that owns the schema",
        )),
        SqlState::UNDEFINED_TABLE
        | SqlState::UNDEFINED_COLUMN
        | SqlState::UNDEFINED_FUNCTION
        | SqlState::INVALID_SCHEMA_NAME => Failure::backend(with(
            "the tables are missing or belong to another version of this program: connect again",
        )),
        _ => Failure::backend(with("the server refused the statement")),
    }
}

/// Returns `true` if a value could not be converted, with the connection intact.
fn is_conversion(error: &tokio_postgres::Error) -> bool {
    let text = error.to_string();
    text.starts_with("error serializing")
        || text.starts_with("error deserializing")
        || text.starts_with("invalid column")
}

/// Returns the text of an error with those of its causes.
fn chain(error: &dyn StdError) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
