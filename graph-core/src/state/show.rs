//! Values for readers: shortened for error messages, and through `Display` or `Debug` for dumps.

use std::fmt::{self, Debug, Display};
use std::io;

use serde::{Serialize, Serializer, ser::Error, ser::SerializeMap};
use serde_json::Value;

/// The number of characters of a value that an error text shows.
const SHOWN_CHARS: usize = 80;

/// Returns the value as shortened JSON; `None` if it cannot be serialized.
pub fn shown<T: Serialize + ?Sized>(value: &T) -> Option<String> {
    let mut prefix = Prefix { bytes: Vec::new(), full: false };
    if serde_json::to_writer(&mut prefix, value).is_err() && !prefix.full {
        return None;
    }
    Some(prefix.into_text())
}

/// Like [`shown`], through the field's own `serialize_with` function.
pub fn shown_with(
    dump: impl FnOnce(serde_json::value::Serializer) -> Result<Value, serde_json::Error>,
) -> Option<String> {
    dump(serde_json::value::Serializer).ok().and_then(|value| shown(&value))
}

/// Writes `name: value` into `map`, with the value written by the field's own `serialize_with` function.
pub fn dump_with<M: SerializeMap>(
    map: &mut M,
    name: &'static str,
    dump: impl FnOnce(serde_json::value::Serializer) -> Result<Value, serde_json::Error>,
) -> Result<(), M::Error> {
    let value = dump(serde_json::value::Serializer).map_err(M::Error::custom)?;
    map.serialize_entry(name, &value)
}

/// Prints a value as its JSON.
pub fn debug_json<T: Serialize>(value: &T, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    // An error here would make `format!` panic.
    match serde_json::to_string(value) {
        Ok(text) => f.write_str(&text),
        Err(error) => write!(f, "(cannot be written as JSON: {error})"),
    }
}

/// `serialize_with = display`.
pub fn display<T: Display + ?Sized, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// `serialize_with = display` on an `Option`.
pub fn display_option<T: Display, S: Serializer>(
    value: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => display(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// `serialize_with = debug`.
pub fn debug<T: Debug + ?Sized, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{value:?}"))
}

/// `serialize_with = debug` on an `Option`.
pub fn debug_option<T: Debug, S: Serializer>(value: &Option<T>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => debug(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// A writer that keeps the first bytes and then fails, so that a large value is not serialized for 80 characters.
struct Prefix {
    bytes: Vec<u8>,
    full: bool,
}

impl Prefix {
    const MAX_BYTES: usize = 4 * SHOWN_CHARS;

    fn into_text(self) -> String {
        let text = match String::from_utf8(self.bytes) {
            Ok(text) => text,
            // The cut is inside a character.
            Err(error) => {
                let whole = error.utf8_error().valid_up_to();
                let mut bytes = error.into_bytes();
                bytes.truncate(whole);
                String::from_utf8(bytes).unwrap_or_default()
            }
        };
        match text.char_indices().nth(SHOWN_CHARS) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None if self.full => format!("{text}…"),
            None => text,
        }
    }
}

impl io::Write for Prefix {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = Self::MAX_BYTES.saturating_sub(self.bytes.len());
        self.bytes.extend(bytes.iter().take(room));
        if bytes.len() > room {
            self.full = true;
            return Err(io::Error::other("enough"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::Serializer;

    use super::*;

    fn check<T: Serialize>(value: T, expected: &str) {
        assert_eq!(shown(&value).as_deref(), Some(expected));
    }

    #[test]
    fn short_values_are_shown_whole() {
        check("x", r#""x""#);
        check(Some(vec![1, 2]), "[1,2]");
        check("é".repeat(78), &format!("\"{}\"", "é".repeat(78)));
    }

    #[test]
    fn long_values_are_cut_between_characters() {
        check("é".repeat(79), &format!("\"{}…", "é".repeat(79)));
        check("🦀".repeat(1_000_000), &format!("\"{}…", "🦀".repeat(79)));
        check(vec![0; 1000], &format!("[{}0…", "0,".repeat(39)));
    }

    #[test]
    fn value_that_json_cannot_represent_is_not_shown() {
        let composite = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert_eq!(shown(&composite), None);
    }

    #[test]
    fn display_and_debug_look_into_an_option() {
        let cause = std::io::Error::other("disk full");
        assert_eq!(display(&cause, Serializer).unwrap(), "disk full");
        assert_eq!(display_option(&Some(cause), Serializer).unwrap(), "disk full");
        assert_eq!(display_option(&None::<String>, Serializer).unwrap(), Value::Null);
        assert_eq!(debug_option(&Some("x"), Serializer).unwrap(), r#""x""#);
        assert_eq!(debug(&Some("x"), Serializer).unwrap(), r#"Some("x")"#);
        assert_eq!(debug_option(&None::<u8>, Serializer).unwrap(), Value::Null);
    }
}
