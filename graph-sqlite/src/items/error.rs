use superstep_store::checkpoint::CheckpointError;
use superstep_store::store::{CorruptItem, StoreError};

use crate::error::{Error, Operation};

/// An error of a long-term store call.
#[derive(Debug)]
pub(crate) enum ItemError {
    /// The call was refused before it wrote anything.
    Refused(StoreError),
    /// The file failed: the transaction must not be committed.
    File(Error),
}

impl From<rusqlite::Error> for ItemError {
    fn from(error: rusqlite::Error) -> Self {
        Self::File(error.into())
    }
}

impl From<Error> for ItemError {
    fn from(error: Error) -> Self {
        Self::File(error)
    }
}

impl From<StoreError> for ItemError {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// Separates refusals from file errors. A refusal must not roll back the transaction that the call shares with others.
pub(crate) fn separate_refusal<T>(result: Result<T, ItemError>) -> Result<Result<T, StoreError>, Error> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(ItemError::Refused(error)) => Ok(Err(error)),
        Err(ItemError::File(error)) => Err(error),
    }
}

/// Returns an operation that concerns no thread.
pub(crate) fn operation(name: &'static str) -> Operation {
    Operation { name, ..Operation::default() }
}

/// Converts an error of the file to an error of the long-term store.
pub(crate) fn store_error(error: CheckpointError) -> StoreError {
    match error {
        CheckpointError::NewerFormat { found, known, .. } => StoreError::newer_format(found, known),
        CheckpointError::Backend { operation, source, .. } => StoreError::backend(operation, source),
        CheckpointError::Corrupt(corrupt) => {
            CorruptItem::new(None, None, format!("{}: {}", corrupt.part, corrupt.reason)).into()
        }
        other => StoreError::backend("use the file", other),
    }
}
