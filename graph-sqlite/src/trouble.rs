use std::sync::Arc;

use rusqlite::ErrorCode;
use superstep_store::checkpoint::{CheckpointError, CheckpointId, CorruptCheckpoint};

/// Why something inside the store did not go through; what names the thread is added at its edge.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// A call that was refused before it had written anything.
    Refused(CheckpointError),
    /// Something stored that cannot be read.
    Damaged(Damage),
    /// SQLite failed.
    Sql(rusqlite::Error),
}

/// What cannot be read, and why.
#[derive(Debug)]
pub(crate) struct Damage {
    pub(crate) checkpoint: Option<CheckpointId>,
    pub(crate) what: String,
    pub(crate) reason: String,
}

/// Which part of the store a call is about, for its errors.
#[derive(Clone, Debug, Default)]
pub(crate) struct About {
    pub(crate) what: &'static str,
    pub(crate) thread: Arc<str>,
    pub(crate) namespace: Arc<str>,
}

impl Damage {
    pub(crate) fn of(self, thread: Arc<str>, namespace: Arc<str>) -> CorruptCheckpoint {
        let Self { checkpoint, what, reason } = self;
        CorruptCheckpoint { thread, namespace, checkpoint, what, reason }
    }
}

impl Trouble {
    pub(crate) fn damaged(
        what: impl Into<String>,
        checkpoint: Option<CheckpointId>,
        reason: impl Into<String>,
    ) -> Self {
        Self::Damaged(Damage { checkpoint, what: what.into(), reason: reason.into() })
    }

    /// Says where a damage was found, if that is what this is.
    pub(crate) fn within(self, what: impl FnOnce() -> String, checkpoint: Option<CheckpointId>) -> Self {
        match self {
            Self::Damaged(damage) if damage.checkpoint.is_none() => {
                Self::damaged(what(), checkpoint, format!("{}: {}", damage.what, damage.reason))
            }
            other => other,
        }
    }

    pub(crate) fn into_error(self, about: &About) -> CheckpointError {
        match self {
            Self::Refused(error) => error,
            Self::Damaged(damage) => {
                let (thread, namespace) = (Arc::clone(&about.thread), Arc::clone(&about.namespace));
                CheckpointError::Corrupt(Box::new(damage.of(thread, namespace)))
            }
            Self::Sql(error) => backend(about.what, error),
        }
    }
}

/// The error of a file that SQLite cannot work with.
pub(crate) fn backend(what: &'static str, error: rusqlite::Error) -> CheckpointError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => CheckpointError::backend(
            what,
            format!("another process has kept the file locked for longer than the busy timeout ({error})"),
        ),
        _ => CheckpointError::backend(what, error),
    }
}

impl From<CheckpointError> for Trouble {
    fn from(error: CheckpointError) -> Self {
        Self::Refused(error)
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        let (what, reason) = match &error {
            InvalidColumnType(_, name, found) => (format!("column `{name}`"), format!("its type is {found}")),
            // SQLite's conversions quote what they could not convert; a stored value stays out of errors.
            FromSqlConversionFailure(column, found, _) => {
                (column_at(*column), format!("{found} was not expected"))
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
        Self::damaged(what, None, reason)
    }
}

fn column_at(index: usize) -> String {
    format!("column {index}")
}
