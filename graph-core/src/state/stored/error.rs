use std::error::Error;
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::checkpoint::CheckpointId;
use crate::reducers::ReduceError;

use super::FieldPlace;

/// Why a value is not written or read.
#[derive(Debug)]
pub(crate) enum Why {
    /// In words that quote no value.
    Ours(&'static str),
    /// In the words of `Serialize` and `Deserialize` impls, which quote values.
    Theirs(String),
    /// The reducer refused a delta.
    Fold(ReduceError),
}

impl Why {
    fn of(&self, place: &FieldPlace) -> String {
        match self {
            Self::Theirs(_) if place.excluded => WITHHELD.to_owned(),
            why => why.to_string(),
        }
    }
}

impl Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ours(words) => f.write_str(words),
            Self::Theirs(words) => f.write_str(words),
            Self::Fold(_) => f.write_str("the reducer does not fold what it folded then"),
        }
    }
}

/// What is said of an excluded field's value.
const WITHHELD: &str = "the value does not fit (the field is excluded, so no more is said)";

/// A value that a store could not give back as it is: why, and where inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unstorable {
    path: String,
    reason: String,
}

impl Unstorable {
    /// `path` is empty for the value as a whole.
    pub(super) fn new(place: Option<&FieldPlace>, path: String, why: Why) -> Self {
        // The keys of an excluded map are its values too.
        let path = if place.is_some_and(|place| place.excluded) { String::new() } else { path };
        let reason = match place {
            Some(place) => why.of(place),
            None => why.to_string(),
        };
        Self { path, reason }
    }
}

impl Display for Unstorable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cannot be stored")?;
        if !self.path.is_empty() {
            write!(f, ", because of what is at `${}`", self.path)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl Error for Unstorable {}

/// A field's value that a store could not give back as it is, and that is therefore not stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}` {unstorable}")]
pub struct EncodeError {
    field: &'static str,
    unstorable: Unstorable,
}

impl EncodeError {
    pub(super) fn new(place: &FieldPlace, unstorable: Unstorable) -> Self {
        Self { field: place.name(), unstorable }
    }

    /// Something of a plan that is no field.
    pub(crate) fn of_plan(reason: impl Display) -> Self {
        Self::of_field("(a plan)", reason.to_string())
    }

    /// A value that was written, and cannot be read back.
    pub(crate) fn not_read_back(error: &RestoreError) -> Self {
        Self::of_field(error.field, error.reason.clone())
    }

    /// A write that its reducer has not prepared: read back, it would be prepared again, and might be another one then.
    pub(crate) fn not_prepared() -> Self {
        Self::of_plan("an update must be prepared before it is stored")
    }

    fn of_field(field: &'static str, reason: String) -> Self {
        Self { field, unstorable: Unstorable { path: String::new(), reason } }
    }

    /// The field.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

/// A stored write that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("what was written to field `{field}` cannot be read: {reason}")]
pub struct DecodeError {
    field: &'static str,
    reason: String,
}

impl DecodeError {
    pub(super) fn new(place: &FieldPlace, why: Why) -> Self {
        Self { field: place.name(), reason: why.of(place) }
    }

    /// The field.
    pub fn field(&self) -> &'static str {
        self.field
    }
}

/// A stored state that cannot be read.
#[derive(Debug)]
pub struct RestoreError {
    field: &'static str,
    checkpoint: Option<CheckpointId>,
    reason: String,
    source: Option<ReduceError>,
}

impl RestoreError {
    pub(super) fn new(place: &FieldPlace, checkpoint: Option<CheckpointId>, why: Why) -> Self {
        let reason = why.of(place);
        let source = match why {
            Why::Fold(error) if !place.excluded => Some(error),
            _ => None,
        };
        Self { field: place.name(), checkpoint, reason, source }
    }

    /// The field.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// The checkpoint that has stored what cannot be read; `None` where nothing is stored.
    pub fn checkpoint(&self) -> Option<CheckpointId> {
        self.checkpoint
    }
}

impl Display for RestoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field `{}` cannot be read", self.field)?;
        if let Some(checkpoint) = self.checkpoint {
            write!(f, " from checkpoint {checkpoint}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl Error for RestoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}

impl From<serde_json::Error> for Why {
    fn from(error: serde_json::Error) -> Self {
        Self::Theirs(error.to_string())
    }
}

/// Runs code of the user's (`Serialize`, `Deserialize`, functions of fields): its panic is an error like any other.
pub(super) fn guarded<T, E: Into<Why>>(run: impl FnOnce() -> Result<T, E>) -> Result<T, Why> {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(E::into),
        Err(panic) => Err(Why::Theirs(format!("its code panicked: {}", crate::panic_text(&*panic)))),
    }
}
