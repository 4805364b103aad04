use serde::Serialize;
use serde_json::Value;

use crate::contain::contained;

use super::overflow::{may_overflow, may_overflow_value};
use super::read::json_text;
use super::{Encoding, Payload, Storable, Unreadable, Unstorable, read_payload, write_payload};

/// Encodes a value as a payload.
///
/// # Errors
/// [`Unstorable`] if the value would not be read back unchanged.
pub fn to_payload<T: Serialize>(value: &T) -> Result<Payload, Unstorable> {
    let mut bytes = Vec::new();
    let encoding = write_payload(&mut bytes, |to| value.serialize(to))?;
    Ok(Payload::new(encoding, bytes))
}

/// Decodes a value from a payload.
///
/// # Errors
/// [`Unreadable`] if the payload is encrypted, is not a `T`, or has a number that is too large for its type.
pub fn from_payload<T: Storable>(payload: &Payload) -> Result<T, Unreadable> {
    let value = user_code(|| read_payload(payload, |from| T::deserialize(from)))?;
    if payload.encoding() == Encoding::Json && may_overflow(payload.bytes()) {
        check_finite(&value)?;
    }
    Ok(value)
}

/// Converts JSON to a value, under the rules of [`from_payload`].
///
/// # Errors
/// [`Unreadable`] if the JSON is not a `T`, or has a number that is too large for its type.
pub fn from_json<T: Storable>(json: Value) -> Result<T, Unreadable> {
    let large = may_overflow_value(&json);
    let value = user_code(|| Ok(serde_json::from_value(json)?))?;
    if large {
        check_finite(&value)?;
    }
    Ok(value)
}

/// Reads a value from the text of JSON, under the rules of [`from_payload`].
#[doc(hidden)]
pub fn from_json_text<T: Storable>(json: &[u8]) -> Result<T, Unreadable> {
    let value = user_code(|| Ok(serde_json::from_str(json_text(json)?)?))?;
    if may_overflow(json) {
        check_finite(&value)?;
    }
    Ok(value)
}

/// Runs a `Deserialize` or `Serialize` implementation, and turns its panic into an error.
fn user_code<T>(run: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    let panicked = |panic| Err(Unreadable::quoting(format!("its code panicked: {panic}")));
    contained(run).unwrap_or_else(panicked)
}

fn check_finite<T: Serialize>(value: &T) -> Result<(), Unreadable> {
    to_payload(value).err().and_then(Unstorable::into_overflow).map_or(Ok(()), Err)
}

/// Converts a value to JSON, under the rules of [`to_payload`].
///
/// # Errors
/// [`Unstorable`] if the value would not be read back unchanged.
pub fn to_json<T: Serialize>(value: &T) -> Result<Value, Unstorable> {
    to_payload(value)?;
    // Converted from the value, not from its bytes: a `Value` parsed from bytes rounds integers of more than 64 bits.
    user_code(|| Ok(serde_json::to_value(value)?)).map_err(|error| Unstorable::because(error.to_string()))
}
