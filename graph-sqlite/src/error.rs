use std::sync::Arc;

use rusqlite::ErrorCode;
use superstep_store::checkpoint::{CheckpointError, CheckpointId, CorruptCheckpoint};

/// An error inside the store, before the thread and namespace are added.
#[derive(Debug)]
pub(crate) enum Error {
    /// The call was refused before it wrote anything.
    Refused(CheckpointError),
    /// Stored data cannot be read.
    Corrupt(Corruption),
    /// SQLite failed.
    Sql(rusqlite::Error),
    /// A read found more than its [`Room`](crate::reader::Room) holds.
    NoRoom,
}

/// The unreadable part of the file, and the reason.
#[derive(Debug)]
pub(crate) struct Corruption {
    pub(crate) checkpoint: Option<CheckpointId>,
    pub(crate) part: String,
    pub(crate) reason: String,
}

/// The call that an error belongs to, and its target.
#[derive(Clone, Debug, Default)]
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) thread: Arc<str>,
    pub(crate) namespace: Arc<str>,
}

impl Corruption {
    pub(crate) fn of(self, thread: Arc<str>, namespace: Arc<str>) -> CorruptCheckpoint {
        let Self { checkpoint, part, reason } = self;
        CorruptCheckpoint::new(thread, namespace, checkpoint, part, reason)
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

    pub(crate) fn into_error(self, operation: &Operation) -> CheckpointError {
        match self {
            Self::Refused(error) => error,
            Self::Corrupt(corruption) => {
                let (thread, namespace) = (Arc::clone(&operation.thread), Arc::clone(&operation.namespace));
                CheckpointError::corrupt(corruption.of(thread, namespace))
            }
            Self::Sql(error) => backend(operation.name, error),
            Self::NoRoom => CheckpointError::backend(
                operation.name,
                "internal error: this call has a limit; please report this",
            ),
        }
    }
}

/// Returns the error of a call to a closed store.
pub(crate) fn closed(operation: &'static str) -> CheckpointError {
    CheckpointError::backend(operation, "the store was closed: open the file again")
}

/// Converts a SQLite error.
pub(crate) fn backend(operation: &'static str, error: rusqlite::Error) -> CheckpointError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => CheckpointError::unavailable(
            operation,
            format!(
                "another process kept the file locked for longer than the busy timeout: raise the timeout or try again ({error})"
            ),
        ),
        _ => CheckpointError::backend(operation, error),
    }
}

impl From<CheckpointError> for Error {
    fn from(error: CheckpointError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        let (part, reason) = match &error {
            InvalidColumnType(_, name, found) => (format!("column `{name}`"), format!("its type is {found}")),
            // The original message would quote the stored value, which may be secret.
            FromSqlConversionFailure(column, found, _) => {
                (column_at(*column), format!("unexpected type {found}"))
            }
            IntegralValueOutOfRange(column, _) => {
                (column_at(*column), "the number is out of range".to_owned())
            }
            Utf8Error(column, _) => (column_at(*column), "it is not UTF-8".to_owned()),
            other => match other.sqlite_error_code() {
                Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                    ("the file".to_owned(), other.to_string())
                }
                _ => return Self::Sql(error),
            },
        };
        Self::corrupt(part, None, reason)
    }
}

fn column_at(index: usize) -> String {
    format!("column {index}")
}
