use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ReduceError;

/// Runs user code (`fold`, `Clone`, `Hash`, `PartialOrd`, …), and converts a panic into an error.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, ReduceError>) -> Result<T, ReduceError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(ReduceError::from_panic(&*panic)))
}
