//! Checks of results.

use std::error::Error;
use std::fmt::{Debug, Display, Write as _};
use std::mem::discriminant;

use superstep_store::checkpoint::{CheckpointError, Fence};

use crate::Broken;

/// Checks that two values are equal.
pub(crate) fn same<T: PartialEq + Debug>(promise: impl Display, expected: T, found: T) -> Result<(), Broken> {
    if expected == found {
        return Ok(());
    }
    Err(Broken::new(promise, shortened(&expected), shortened(&found)))
}

/// Checks a condition.
pub(crate) fn holds(promise: impl Display, condition: bool, found: impl Debug) -> Result<(), Broken> {
    if condition { Ok(()) } else { Err(Broken::new(promise, "the promise holds", shortened(&found))) }
}

/// Formats a value in at most 1200 characters.
fn shortened(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    if text.chars().count() <= 1200 {
        return text;
    }
    let start: String = text.chars().take(1200).collect();
    format!("{start} … ({} bytes)", text.len())
}

/// Formats an error with its causes.
pub(crate) fn error_chain(error: &dyn Error) -> String {
    let mut text = format!("error: {error}");
    let mut cause = error.source();
    while let Some(error) = cause {
        let _ = write!(text, ": {error}");
        cause = error.source();
    }
    text
}

fn outcome<T: Debug>(result: &Result<T, CheckpointError>) -> String {
    match result {
        Ok(value) => format!("success: {}", shortened(value)),
        Err(error) => error_chain(error),
    }
}

/// Checks that two stores have returned the same result. Returns a description of the call.
pub(crate) fn same_result<T: PartialEq + Debug>(
    call: String,
    expected: &Result<T, CheckpointError>,
    found: &Result<T, CheckpointError>,
) -> Result<String, Broken> {
    let condition = match (expected, found) {
        (Ok(expected), Ok(found)) => expected == found,
        (Err(CheckpointError::Conflict(expected)), Err(CheckpointError::Conflict(found))) => {
            expected == found
        }
        (Err(expected), Err(found)) => discriminant(expected) == discriminant(found),
        _ => false,
    };
    if condition {
        return Ok(format!("{call}: {}", outcome(expected)));
    }
    Err(Broken::new(
        format!("a call returns the same result as the model: {call}"),
        outcome(expected),
        outcome(found),
    ))
}

/// Checks of the results of all stores.
pub(crate) trait Expect<T> {
    /// Checks that the call succeeds.
    fn works(self, promise: impl Display) -> Result<T, Broken>;
}

impl<T, E: Error> Expect<T> for Result<T, E> {
    fn works(self, promise: impl Display) -> Result<T, Broken> {
        self.map_err(|error| Broken::new(promise, "success", error_chain(&error)))
    }
}

/// Checks of the errors of a checkpoint store.
pub(crate) trait Refusal {
    /// Checks that the call fails with a conflict between these fences.
    fn conflicts(self, promise: impl Display, expected: Fence, found: Fence) -> Result<(), Broken>;

    /// Checks that the call fails as invalid.
    fn refused(self, promise: impl Display) -> Result<(), Broken>;

    /// Checks that the call fails because it exceeds a limit.
    fn exceeds_a_limit(self, promise: impl Display) -> Result<(), Broken>;
}

impl<T: Debug> Refusal for Result<T, CheckpointError> {
    fn conflicts(self, promise: impl Display, expected: Fence, found: Fence) -> Result<(), Broken> {
        match self {
            Err(CheckpointError::Conflict(conflict)) => {
                same(format!("{promise}; the conflict has the expected fence"), expected, conflict.expected)?;
                same(format!("{promise}; the conflict has the found fence"), found, conflict.found)
            }
            other => Err(Broken::new(promise, "a conflict", outcome(&other))),
        }
    }

    fn refused(self, promise: impl Display) -> Result<(), Broken> {
        match self {
            Err(CheckpointError::Invalid { .. }) => Ok(()),
            other => Err(Broken::new(promise, "`CheckpointError::Invalid`", outcome(&other))),
        }
    }

    fn exceeds_a_limit(self, promise: impl Display) -> Result<(), Broken> {
        match self {
            Err(CheckpointError::NotStorable { .. }) => Ok(()),
            other => Err(Broken::new(promise, "`CheckpointError::NotStorable`", outcome(&other))),
        }
    }
}
