use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Serializer;

use super::error::Why;
use super::strict::{Refused, Strict};
use super::{Encoding, Unstorable};

/// The serializer that writes a payload.
pub type PayloadSerializer<'a, 'v> = Strict<'a, &'a mut Serializer<&'v mut Vec<u8>>>;

/// Appends a value to `into`, in the form of a payload. After an error, `into` is unchanged.
///
/// A value that serializes as bytes and nothing else is written as these bytes, everything else as strict JSON. A panic of
/// `write` is an error like any other.
///
/// # Errors
/// The value would not be read back as it is.
pub fn write_payload(
    into: &mut Vec<u8>,
    write: impl FnOnce(PayloadSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Result<Encoding, Unstorable> {
    let before = into.len();
    let refused = Refused::default();
    let written = {
        let serializer = &mut Serializer::new(&mut *into);
        catch_unwind(AssertUnwindSafe(|| write(Strict::whole(serializer, &refused))))
    };
    let why = match written {
        Ok(Ok(())) => {
            return Ok(match refused.into_bytes() {
                None => Encoding::Json,
                Some(bytes) => {
                    into.truncate(before);
                    into.extend(bytes);
                    Encoding::Bytes
                }
            });
        }
        Ok(Err(error)) => Why::Quoting(error.to_string()),
        Err(panic) => Why::Quoting(format!("its code panicked: {}", panic_text(&*panic))),
    };
    into.truncate(before);
    let (fixed, path) = refused.into_parts();
    Err(Unstorable::new(path, fixed.map_or(why, Why::Fixed)))
}

/// The message of a panic.
#[doc(hidden)]
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    if let Some(text) = panic.downcast_ref::<&str>() {
        text
    } else if let Some(text) = panic.downcast_ref::<String>() {
        text
    } else {
        "(no message)"
    }
}
