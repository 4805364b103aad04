use superstep::{Error, ErrorKind};

use crate::api_error::{ApiError, with_causes};

/// The failure of a run, as clients see it: `{"error": .., "message": ..}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RunFailure {
    /// The name of the type of the error.
    pub(crate) error: String,
    pub(crate) message: String,
    /// `true` if the run was cancelled.
    pub(crate) cancelled: bool,
}

impl RunFailure {
    pub(crate) fn new(error: impl Into<String>, message: impl Into<String>) -> Self {
        Self { error: error.into(), message: message.into(), cancelled: false }
    }

    pub(crate) fn unserializable(error: serde_json::Error) -> Self {
        Self::new("ValueError", format!("a value of the run cannot be written as JSON: {error}"))
    }

    /// The failure of a run that has neither an input nor a state to continue from.
    pub(crate) fn empty_input() -> Self {
        Self::new("EmptyInputError", "the thread has no state, and the run has no input: send an `input`")
    }
}

impl From<Error> for RunFailure {
    fn from(error: Error) -> Self {
        let cancelled = matches!(error.kind(), ErrorKind::Cancelled { .. });
        let (name, message) = match error.kind() {
            ErrorKind::Node { first, .. } => {
                let name = first.error_type().unwrap_or("Error");
                let path = name.split_once('<').map_or(name, |(path, _)| path);
                let short = path.rsplit_once("::").map_or(path, |(_, name)| name);
                (short.to_owned(), with_causes(&*first.error))
            }
            ErrorKind::RecursionLimit { .. } => ("GraphRecursionError".to_owned(), with_causes(&error)),
            kind => (kind.name().to_owned(), with_causes(&error)),
        };
        Self { error: name, message, cancelled }
    }
}

impl From<ApiError> for RunFailure {
    fn from(error: ApiError) -> Self {
        Self::new("ValueError", error.text())
    }
}
