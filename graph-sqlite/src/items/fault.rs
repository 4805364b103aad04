use superstep_store::checkpoint::CheckpointError;
use superstep_store::store::{CorruptItem, StoreError};

use crate::trouble::{About, Trouble};

/// Why a call of the long-term store did not go through.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It has an answer, which is this; nothing has been written.
    Answer(StoreError),
    /// SQLite failed: a transaction must not be committed.
    Trouble(Trouble),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Trouble(error.into())
    }
}

impl From<Trouble> for Fault {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Answer(error)
    }
}

/// What goes through the queues of the file's threads, which know of no long-term store.
pub(crate) fn settle<T>(result: Result<T, Fault>) -> Result<Result<T, StoreError>, Trouble> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Fault::Answer(error)) => Ok(Err(error)),
        Err(Fault::Trouble(trouble)) => Err(trouble),
    }
}

/// A call that is about no thread.
pub(crate) fn about(what: &'static str) -> About {
    About { what, ..About::default() }
}

/// An error of the file, as one of the long-term store.
pub(crate) fn error(error: CheckpointError) -> StoreError {
    match error {
        CheckpointError::NewerFormat { found, known } => StoreError::NewerFormat { found, known },
        CheckpointError::Backend { what, source } => StoreError::Backend { what, source },
        CheckpointError::Corrupt(corrupt) => StoreError::Corrupt(Box::new(CorruptItem {
            namespace: None,
            key: None,
            reason: format!("{}: {}", corrupt.what, corrupt.reason),
        })),
        other => StoreError::backend("use the file", other),
    }
}
