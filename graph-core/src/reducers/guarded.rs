use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ReduceError;

/// Runs code of the user's (`fold`, `Clone`, `Hash`, `PartialOrd` ..): its panic is an error like any other.
pub(crate) fn guarded<T>(run: impl FnOnce() -> Result<T, ReduceError>) -> Result<T, ReduceError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(ReduceError::from_panic(&*panic)))
}
