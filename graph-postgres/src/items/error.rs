use superstep_store::store::StoreError;

use crate::error::Failure;

/// An error of a call to the long-term store.
#[derive(Debug)]
pub(crate) enum ItemError {
    /// The store has answered the call with an error.
    Refused(StoreError),
    /// The server or the connection has failed.
    Server(Failure),
}

impl From<tokio_postgres::Error> for ItemError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Server(error.into())
    }
}

impl From<Failure> for ItemError {
    fn from(failure: Failure) -> Self {
        Self::Server(failure)
    }
}

impl From<StoreError> for ItemError {
    fn from(error: StoreError) -> Self {
        Self::Refused(error)
    }
}

/// Separates the answers of the store from failures of the server, which may be worth another attempt.
pub(crate) fn separate_refusal<T>(result: Result<T, ItemError>) -> Result<Result<T, StoreError>, Failure> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(ItemError::Refused(error)) => Ok(Err(error)),
        Err(ItemError::Server(failure)) => Err(failure),
    }
}
