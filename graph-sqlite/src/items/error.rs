use std::sync::Arc;

use superstep_store::checkpoint::CheckpointError;
use superstep_store::store::{CorruptItem, ItemKey, StoreError};

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

/// Returns the error of an item that cannot be read.
pub(crate) fn corrupt_item(at: &ItemKey, reason: impl Into<String>) -> StoreError {
    StoreError::corrupt(CorruptItem::new(at.namespace.clone(), Arc::clone(&at.key), reason))
}

/// Converts an error of the file to an error of the long-term store.
pub(crate) fn store_error(error: CheckpointError) -> StoreError {
    match error {
        CheckpointError::NewerFormat { found, known, .. } => StoreError::newer_format(found, known),
        CheckpointError::Unavailable { operation, source, .. } => StoreError::unavailable(operation, source),
        CheckpointError::Backend { operation, source, .. } => StoreError::backend(operation, source),
        CheckpointError::Corrupt(corrupt) => {
            let reason = format!("{}: {}", corrupt.part, corrupt.reason);
            StoreError::corrupt(CorruptItem::new(None, None, reason))
        }
        other => StoreError::backend("use the file", other),
    }
}
