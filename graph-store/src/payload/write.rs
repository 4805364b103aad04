use serde_json::Serializer;

use crate::contain::contained;
use crate::limits::MAX_VALUE_BYTES;

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
    write_at_most(MAX_VALUE_BYTES, into, write)
}

fn write_at_most(
    limit: usize,
    into: &mut Vec<u8>,
    write: impl FnOnce(PayloadSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Result<Encoding, Unstorable> {
    let before = into.len();
    let report = Report::default();
    let written = {
        let serializer = &mut Serializer::new(&mut *into);
        contained(|| write(Strict::whole(serializer, &report)))
    };
    finish(limit, into, before, report, written)
}

/// Returns the encoding of the value that was written at the end of `into`, or takes the value back.
// Not a part of the function above, which is compiled again for each type.
fn finish(
    limit: usize,
    into: &mut Vec<u8>,
    before: usize,
    report: Report,
    written: Result<Result<(), serde_json::Error>, String>,
) -> Result<Encoding, Unstorable> {
    let reason = match written {
        Ok(Ok(())) if report.is_incomplete() => Reason::Fixed(IGNORED),
        Ok(Ok(())) => {
            let encoding = match report.into_bytes() {
                None => Encoding::Json,
                Some(bytes) => {
                    into.truncate(before);
                    into.extend(bytes);
                    Encoding::Bytes
                }
            };
            let size = into.len() - before;
            if size <= limit {
                return Ok(encoding);
            }
            into.truncate(before);
            return Err(Unstorable::too_large(size, limit));
        }
        Ok(Err(error)) => Reason::quoting(error.to_string()),
        Err(panic) => Reason::quoting(format!("its code panicked: {panic}")),
    };
    into.truncate(before);
    let (fixed, path) = report.into_parts();
    Err(Unstorable::new(path, fixed.map_or(reason, Reason::Fixed)))
}

const IGNORED: &str = "its `Serialize` implementation ignored an error, so a part of it is missing";

#[cfg(test)]
mod tests {
    use serde::Serialize as _;

    use super::*;

    #[test]
    fn value_over_the_limit_is_refused_and_leaves_nothing_behind() {
        struct Bytes(&'static [u8]);
        impl serde::Serialize for Bytes {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_bytes(self.0)
            }
        }
        let mut into = b"before".to_vec();
        assert_eq!(write_at_most(5, &mut into, |to| "abc".serialize(to)), Ok(Encoding::Json));
        assert_eq!(write_at_most(3, &mut into, |to| Bytes(b"123").serialize(to)), Ok(Encoding::Bytes));
        let wanted = into.clone();
        let error = write_at_most(4, &mut into, |to| "abc".serialize(to)).unwrap_err().to_string();
        assert!(error.contains("it has 5 bytes as it is stored, but at most 4 can be stored"), "{error}");
        assert!(write_at_most(2, &mut into, |to| Bytes(b"123").serialize(to)).is_err());
        assert_eq!(into, wanted);
    }
}
