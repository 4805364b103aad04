use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Payload, Unreadable, Unstorable, read_payload, write_payload};

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
/// [`Unreadable`] if the payload is encrypted, or is not a `T`.
pub fn from_payload<T: DeserializeOwned>(payload: &Payload) -> Result<T, Unreadable> {
    read_payload(payload, |from| T::deserialize(from))
}

/// Converts a value to JSON, under the rules of [`to_payload`].
///
/// # Errors
/// [`Unstorable`] if the value would not be read back unchanged.
pub fn to_json<T: Serialize>(value: &T) -> Result<Value, Unstorable> {
    to_payload(value)?;
    // Converted from the value, not from its bytes: a `Value` parsed from bytes rounds integers of more than 64 bits.
    serde_json::to_value(value).map_err(|error| Unstorable::because(error.to_string()))
}
