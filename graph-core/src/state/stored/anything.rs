//! Storing what is no field: questions, answers, results of steps.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::checkpoint::Payload;

use super::encode::strictly;
pub(crate) use super::error::Unstorable;
use super::payload::read;

/// A value as it is stored.
///
/// # Errors
/// It would not be read back as it is.
pub(crate) fn to_payload<T: Serialize>(value: &T) -> Result<Payload, Unstorable> {
    let mut bytes = Vec::new();
    let encoding = strictly(None, &mut bytes, |to| value.serialize(to))?;
    Ok(Payload::new(encoding, bytes))
}

/// A value that was stored so; in words why it is none.
pub(crate) fn from_payload<T: DeserializeOwned>(payload: &Payload) -> Result<T, String> {
    read(payload, |from| T::deserialize(from)).map_err(|why| why.to_string())
}

/// A value as JSON, in words why it cannot be stored: what goes on behind "it".
pub(crate) fn to_json<T: Serialize>(value: &T) -> Result<Value, String> {
    to_payload(value).map_err(|unstorable| unstorable.to_string())?;
    // Past the text, in which numbers may be of more than 64 bits.
    serde_json::to_value(value).map_err(|error| format!("cannot be stored: {error}"))
}
