use serde_json::Serializer;

use crate::contain::contained;

use super::error::Reason;
use super::strict::{Report, Strict};
use super::{Encoding, Unstorable};

/// The serializer that writes a payload.
pub type PayloadSerializer<'a, 'v> = Strict<'a, &'a mut Serializer<&'v mut Vec<u8>>>;

/// Appends a value to `into`, encoded as a payload. After an error, `into` is unchanged.
///
/// A value that serializes as bytes is written as these bytes, every other value as [`Strict`] JSON. A panic of `write`
/// becomes an error.
///
/// # Errors
/// [`Unstorable`] if the value would not be read back unchanged.
pub fn write_payload(
    into: &mut Vec<u8>,
    write: impl FnOnce(PayloadSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Result<Encoding, Unstorable> {
    let before = into.len();
    let report = Report::default();
    let written = {
        let serializer = &mut Serializer::new(&mut *into);
        contained(|| write(Strict::whole(serializer, &report)))
    };
    let reason = match written {
        Ok(Ok(())) if report.is_incomplete() => Reason::Fixed(IGNORED),
        Ok(Ok(())) => {
            return Ok(match report.into_bytes() {
                None => Encoding::Json,
                Some(bytes) => {
                    into.truncate(before);
                    into.extend(bytes);
                    Encoding::Bytes
                }
            });
        }
        Ok(Err(error)) => Reason::quoting(error.to_string()),
        Err(panic) => Reason::quoting(format!("its code panicked: {panic}")),
    };
    into.truncate(before);
    let (fixed, path) = report.into_parts();
    Err(Unstorable::new(path, fixed.map_or(reason, Reason::Fixed)))
}

const IGNORED: &str = "its `Serialize` implementation ignored an error, so a part of it is missing";
