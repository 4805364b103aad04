//! What a case asks of an answer.

use std::error::Error;
use std::fmt::{Debug, Display, Write as _};
use std::mem::discriminant;

use superstep_store::checkpoint::{CheckpointError, Fence};

use crate::Broken;

/// That two things are equal.
pub(crate) fn same<T: PartialEq + Debug>(promise: impl Display, expected: T, found: T) -> Result<(), Broken> {
    if expected == found {
        return Ok(());
    }
    Err(Broken::new(promise, shown(&expected), shown(&found)))
}

/// That something is so.
pub(crate) fn holds(promise: impl Display, is_so: bool, found: impl Debug) -> Result<(), Broken> {
    if is_so { Ok(()) } else { Err(Broken::new(promise, "that it is so", shown(&found))) }
}

/// A text that can be read: a megabyte in a failure helps nobody.
fn shown(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    if text.chars().count() <= 1200 {
        return text;
    }
    let start: String = text.chars().take(1200).collect();
    format!("{start} … ({} bytes)", text.len())
}

/// An error with what has caused it.
pub(crate) fn told(error: &dyn Error) -> String {
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
        Ok(value) => format!("success: {}", shown(value)),
        Err(error) => told(error),
    }
}

/// That two stores have given the same answer.
pub(crate) fn alike<T: PartialEq + Debug>(
    call: String,
    expected: &Result<T, CheckpointError>,
    found: &Result<T, CheckpointError>,
) -> Result<String, Broken> {
    let is_so = match (expected, found) {
        (Ok(expected), Ok(found)) => expected == found,
        (Err(CheckpointError::Conflict(expected)), Err(CheckpointError::Conflict(found))) => {
            expected == found
        }
        (Err(expected), Err(found)) => discriminant(expected) == discriminant(found),
        _ => false,
    };
    if is_so {
        return Ok(format!("{call}: {}", outcome(expected)));
    }
    Err(Broken::new(
        format!("a call gives what it gives in the model: {call}"),
        outcome(expected),
        outcome(found),
    ))
}

pub(crate) trait Expect<T> {
    /// That there is no error.
    fn works(self, promise: impl Display) -> Result<T, Broken>;

    /// That a writer was told that it was overtaken, and by what.
    fn conflicts(self, promise: impl Display, expected: Fence, found: Fence) -> Result<(), Broken>;

    /// That something that cannot be was refused.
    fn refused(self, promise: impl Display) -> Result<(), Broken>;
}

impl<T: Debug> Expect<T> for Result<T, CheckpointError> {
    fn works(self, promise: impl Display) -> Result<T, Broken> {
        self.map_err(|error| Broken::new(promise, "success", told(&error)))
    }

    fn conflicts(self, promise: impl Display, expected: Fence, found: Fence) -> Result<(), Broken> {
        match self {
            Err(CheckpointError::Conflict(conflict)) => {
                same(format!("{promise}; the conflict says what was expected"), expected, conflict.expected)?;
                same(format!("{promise}; the conflict says what was found"), found, conflict.found)
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
}
