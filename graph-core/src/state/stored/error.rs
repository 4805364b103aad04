use std::error::Error;
use std::fmt::{self, Display};

use serde::de::DeserializeOwned;

use crate::checkpoint::CheckpointId;
use crate::contain::contained;
use crate::payload::{Payload, PayloadDeserializer, Unreadable, Unstorable, read_payload};
use crate::reducers::ReduceError;

use super::FieldPlace;

/// Why a stored value is not read.
#[derive(Debug)]
pub(crate) enum Why {
    /// The payload is not a value of the type.
    Payload(Unreadable),
    /// The reducer refused a delta.
    Fold(ReduceError),
}

impl Why {
    /// An error whose text quotes no value.
    pub(super) fn new(reason: &'static str) -> Self {
        Self::Payload(Unreadable::new(reason))
    }

    /// The text of the error; without details if the field is excluded.
    fn text(&self, place: &FieldPlace) -> String {
        match self {
            Self::Payload(unreadable) if place.excluded => unreadable.clone().withheld().to_string(),
            why => why.to_string(),
        }
    }
}

impl Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Payload(unreadable) => unreadable.fmt(f),
            Self::Fold(_) => f.write_str("the reducer refuses a delta that it accepted when it was stored"),
        }
    }
}

/// A field's value that is not stored, because it would not be read back unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("field `{field}` {unstorable}")]
pub struct EncodeError {
    field: &'static str,
    unstorable: Unstorable,
}

impl EncodeError {
    pub(super) fn new(place: &FieldPlace, unstorable: Unstorable) -> Self {
        // The keys of an excluded map are part of its value too.
        let unstorable = if place.excluded { unstorable.withheld() } else { unstorable };
        Self { field: place.name(), unstorable }
    }

    /// An error of a part of a plan, which is not a field.
    pub(crate) fn of_plan(reason: impl Display) -> Self {
        Self::of_field("(a plan)", reason.to_string())
    }

    /// An error of a value that was written but cannot be read back.
    pub(crate) fn not_read_back(error: &RestoreError) -> Self {
        Self::of_field(error.field, error.reason.clone())
    }

    /// An error of a write that its reducer has not prepared. Once read back, it would be prepared again, perhaps with
    /// another result.
    pub(crate) fn not_prepared() -> Self {
        Self::of_plan("an update must be prepared before it is stored")
    }

    fn of_field(field: &'static str, reason: String) -> Self {
        Self { field, unstorable: Unstorable::because(reason) }
    }

    /// Returns the field's name.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Returns the path inside the field and the message of a number that was too large for its type when it was read.
    pub(crate) fn overflow(&self) -> Option<(&str, &'static str)> {
        self.unstorable.overflow()
    }

    /// Returns the message of a number that was too large for its type when it was read.
    pub(crate) fn into_overflow(self) -> Option<String> {
        self.unstorable.into_overflow().map(|unreadable| unreadable.to_string())
    }
}

/// A stored write that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stored write to field `{field}` cannot be read: {reason}")]
pub struct DecodeError {
    field: &'static str,
    reason: String,
}

impl DecodeError {
    pub(super) fn new(place: &FieldPlace, why: Why) -> Self {
        Self { field: place.name(), reason: why.text(place) }
    }

    /// An error of a write with a number that was too large for its type.
    pub(super) fn of_overflow(error: EncodeError) -> Option<Self> {
        Some(Self { field: error.field, reason: error.into_overflow()? })
    }

    /// Returns the field's name.
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
        let reason = why.text(place);
        let source = match why {
            Why::Fold(error) if !place.excluded => Some(error),
            _ => None,
        };
        Self { field: place.name(), checkpoint, reason, source }
    }

    /// Returns the field's name.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Returns the checkpoint whose stored value or delta cannot be read; `None` if nothing is stored.
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

impl From<Unreadable> for Why {
    fn from(error: Unreadable) -> Self {
        Self::Payload(error)
    }
}

impl From<serde_json::Error> for Why {
    fn from(error: serde_json::Error) -> Self {
        Self::Payload(error.into())
    }
}

/// Runs user code (`Serialize`, `Deserialize`, functions of fields) and turns its panic into an error.
pub(super) fn guarded<T>(run: impl FnOnce() -> Result<T, Why>) -> Result<T, Why> {
    match contained(run) {
        Ok(result) => result,
        Err(message) => Err(panicked(&message)),
    }
}

fn panicked(message: &str) -> Why {
    Unreadable::quoting(format!("its code panicked: {message}")).into()
}

/// Reads the whole of a payload as a value.
pub(super) fn read_value<T: DeserializeOwned>(payload: &Payload) -> Result<T, Why> {
    read(payload, |from| T::deserialize(from))
}

/// Reads the whole of a payload with a function.
pub(super) fn read<T>(
    payload: &Payload,
    read: impl FnOnce(PayloadDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
) -> Result<T, Why> {
    read_payload(payload, read).map_err(Why::Payload)
}
