use crate::contain;

/// The message of a panic, as an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Panic(pub(crate) String);

/// Calls a function of the user that is not a node, and catches a panic.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    contain::contained(run).map_err(Panic)
}
