use serde::Serialize;
use serde_json::Serializer;

use crate::checkpoint::Encoding;

use super::error::{Unstorable, Why, guarded};
use super::strict::{Refused, Strict};
use super::{EncodeError, FieldPlace};

/// The serializer that a field's own `with` or `serialize_with` function is given for a checkpoint.
pub(crate) type FieldSerializer<'a, 'v> = Strict<'a, &'a mut Serializer<&'v mut Vec<u8>>>;

/// Writes a value behind what is in `into`; after an error nothing has been added.
///
/// # Errors
/// The value would not be read back as it is.
pub fn encode_value<T: Serialize>(
    place: &FieldPlace,
    value: &T,
    into: &mut Vec<u8>,
) -> Result<Encoding, EncodeError> {
    encode_value_with(place, into, |to| value.serialize(to))
}

/// The same through the field's own function.
///
/// # Errors
/// The value would not be read back as it is.
pub fn encode_value_with(
    place: &FieldPlace,
    into: &mut Vec<u8>,
    write: impl FnOnce(FieldSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Result<Encoding, EncodeError> {
    strictly(Some(place), into, write).map_err(|unstorable| EncodeError::new(place, unstorable))
}

/// Writes a value, of a field or of anything else that is stored, behind what is in `into`; after an error nothing has
/// been added.
///
/// # Errors
/// The value would not be read back as it is.
pub(crate) fn strictly(
    place: Option<&FieldPlace>,
    into: &mut Vec<u8>,
    write: impl FnOnce(FieldSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Result<Encoding, Unstorable> {
    let before = into.len();
    let refused = Refused::default();
    let written = guarded(|| write(Strict::whole(&mut Serializer::new(&mut *into), &refused)));
    match written {
        Ok(()) => Ok(match refused.into_bytes() {
            None => Encoding::Json,
            Some(bytes) => {
                into.truncate(before);
                into.extend(bytes);
                Encoding::Bytes
            }
        }),
        Err(theirs) => {
            into.truncate(before);
            let (why, path) = refused.into_parts();
            Err(Unstorable::new(place, path, why.map_or(theirs, Why::Ours)))
        }
    }
}
