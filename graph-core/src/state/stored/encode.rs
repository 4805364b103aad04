use serde::Serialize;

use crate::payload::{Encoding, PayloadSerializer, write_payload};

use super::{EncodeError, FieldPlace};

/// Writes a value behind what is in `into`; after an error nothing has been added.
///
/// # Errors
/// The value would not be read back unchanged.
pub fn encode_value<T: Serialize>(
    place: &FieldPlace,
    value: &T,
    into: &mut Vec<u8>,
) -> Result<Encoding, EncodeError> {
    encode_value_with(place, into, |to| value.serialize(to))
}

/// Like [`encode_value`], through the field's own function.
///
/// # Errors
/// The value would not be read back unchanged.
pub fn encode_value_with(
    place: &FieldPlace,
    into: &mut Vec<u8>,
    write: impl FnOnce(PayloadSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Result<Encoding, EncodeError> {
    write_payload(into, write).map_err(|unstorable| EncodeError::new(place, unstorable))
}
