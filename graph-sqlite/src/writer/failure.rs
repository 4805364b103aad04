use superstep_store::checkpoint::CheckpointError;

use crate::error::{Error, backend};

/// The reason why a transaction failed. All of its writes fail with it, so it can be converted several times.
#[derive(Debug)]
pub(crate) struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self(Error::Sql(error))
    }
}

impl Failure {
    /// Returns the error of one of the writes.
    pub(super) fn of(&self, operation: &'static str) -> CheckpointError {
        match &self.0 {
            Error::Refused(CheckpointError::NewerFormat { found, known, .. }) => {
                CheckpointError::newer_format(*found, *known)
            }
            Error::Refused(CheckpointError::Unavailable { source, .. }) => {
                CheckpointError::unavailable(operation, source.to_string())
            }
            Error::Refused(CheckpointError::Backend { source, .. }) => {
                CheckpointError::backend(operation, source.to_string())
            }
            Error::Refused(other) => CheckpointError::backend(operation, other.to_string()),
            Error::Corrupt(corruption) => {
                CheckpointError::backend(operation, format!("{}: {}", corruption.part, corruption.reason))
            }
            Error::Sql(rusqlite::Error::SqliteFailure(code, text)) => {
                backend(operation, rusqlite::Error::SqliteFailure(*code, text.clone()))
            }
            Error::Sql(other) => CheckpointError::backend(operation, other.to_string()),
            Error::NoRoom => CheckpointError::backend(
                operation,
                "internal error: this call has a limit; please report this",
            ),
        }
    }
}
