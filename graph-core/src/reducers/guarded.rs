use crate::contain::contained;

use super::ReduceError;

/// Runs user code (`fold`, `Clone`, `Hash`, `PartialOrd`, …), and converts a panic into an error.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, ReduceError>) -> Result<T, ReduceError> {
    contained(run).unwrap_or_else(|panic| Err(ReduceError::from_panic(&panic)))
}
