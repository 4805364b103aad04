use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Payload, Unreadable, Unstorable, read_payload, write_payload};

/// Encodes a value as a payload.
///
/// # Errors
/// The value would not be read back as it is.
pub fn to_payload<T: Serialize>(value: &T) -> Result<Payload, Unstorable> {
    let mut bytes = Vec::new();
    let encoding = write_payload(&mut bytes, |to| value.serialize(to))?;
    Ok(Payload::new(encoding, bytes))
}

/// Decodes a value from a payload.
///
/// # Errors
/// The payload is sealed, or is not a `T`.
pub fn from_payload<T: DeserializeOwned>(payload: &Payload) -> Result<T, Unreadable> {
    read_payload(payload, |from| T::deserialize(from))
}

/// Converts a value to JSON, under the rules of [`to_payload`].
///
/// # Errors
/// The value would not be read back as it is.
pub fn to_json<T: Serialize>(value: &T) -> Result<Value, Unstorable> {
    to_payload(value)?;
    // From the value and not from its bytes: a `Value` parsed from text rounds integers of more than 64 bits.
    serde_json::to_value(value).map_err(|error| Unstorable::because(error.to_string()))
}
