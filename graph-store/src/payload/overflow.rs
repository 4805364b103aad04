//! Numbers that overflow their type when they are read.
//!
//! serde turns a number that is too large for an `f32` into infinity, from a `serde_json::Value` and wherever it buffers
//! (`untagged`, `flatten`). No deserializer sees that. So a value is written again after it was read from JSON with such a
//! number, and is refused if it holds infinity.

use serde_json::Value;

use super::payload::joined;
use super::strict::NOT_FINITE;
use super::{Encoding, Payload, Unreadable, Unstorable};

/// The message for a number that overflows its type.
const OVERFLOWS: &str =
    "the number is too large for its type, which would hold infinity: use a smaller number";

/// Returns `true` if the JSON of one of these payloads may contain a number that is infinite as an `f32`. Strings may cause
/// a false positive.
#[doc(hidden)]
pub fn any_may_overflow<'p>(payloads: impl IntoIterator<Item = &'p Payload>) -> bool {
    let json = payloads.into_iter().filter(|payload| payload.encoding() == Encoding::Json);
    joined(json).any(may_overflow)
}

/// The same for JSON.
pub(super) fn may_overflow(json: &[u8]) -> bool {
    if has_long_integer(json) {
        return true;
    }
    has_exponent(json)
        && json.windows(2).enumerate().any(|(at, pair)| {
            let is_exponent = matches!(pair, &[digit, e] if is_exponent(digit, e));
            is_exponent && json.split_at_checked(at + 1).is_some_and(|(head, tail)| is_large(head, tail))
        })
}

/// Returns `true` if JSON has an `e` after a digit.
// Without an early exit, so that it is vectorized: most JSON has no exponent.
fn has_exponent(json: &[u8]) -> bool {
    let next = json.get(1..).unwrap_or_default();
    let digits = json.get(..next.len()).unwrap_or_default();
    let look = |digits: &[u8; LANES], es: &[u8; LANES]| {
        let pairs = digits.iter().zip(es);
        pairs.fold(0, |found, (&digit, &e)| found | u8::from(is_exponent(digit, e))) != 0
    };
    let (Some(last_digits), Some(last_es)) = (digits.last_chunk(), next.last_chunk()) else {
        return digits.iter().zip(next).any(|(&digit, &e)| is_exponent(digit, e));
    };
    // The last lanes overlap with those before them.
    let mut found = look(last_digits, last_es);
    for (digits, es) in digits.as_chunks().0.iter().zip(next.as_chunks().0) {
        found |= look(digits, es);
    }
    found
}

fn is_exponent(digit: u8, e: u8) -> bool {
    digit.is_ascii_digit() & (e | 0x20 == b'e')
}

/// The number of bytes that are compared together.
const LANES: usize = 32;

/// The digits of `f32::MAX`.
const LONG: usize = 39;

/// Returns `true` if JSON has [`LONG`] digits in a row. Each such row has a digit at a multiple of that number.
fn has_long_integer(json: &[u8]) -> bool {
    json.iter()
        .enumerate()
        .step_by(LONG)
        .any(|(at, byte)| byte.is_ascii_digit() && digits_around(json, at) >= LONG)
}

/// Returns the number of digits in the row at an index.
#[cold]
fn digits_around(json: &[u8], at: usize) -> usize {
    let (head, tail) = json.split_at_checked(at).unwrap_or_default();
    let is_digit = |byte: &&u8| byte.is_ascii_digit();
    head.iter().rev().take_while(is_digit).count() + tail.iter().take_while(is_digit).count()
}

/// Returns `true` if the number at the end of `head` is large with the exponent at the beginning of `tail`.
fn is_large(head: &[u8], tail: &[u8]) -> bool {
    let Some((_e, tail)) = tail.split_first() else { return false };
    let tail = tail.strip_prefix(b"+").unwrap_or(tail);
    let exponent = tail.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // Strings such as hexadecimal ids are ruled out by the byte after the digits.
    let is_number = tail.get(exponent).is_none_or(|byte| b",]} \n\r\t".contains(byte));
    let is_digit = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let digits = || head.iter().rev().take(LONG).take_while(is_digit).count();
    // The greatest exponent of one digit stands for nine more digits.
    is_number && (exponent > 1 || exponent == 1 && digits() >= LONG - 9)
}

/// Returns `true` if a JSON value contains a number that is infinite as an `f32`.
#[doc(hidden)]
pub fn may_overflow_value(value: &Value) -> bool {
    let mut rest = vec![value];
    while let Some(value) = rest.pop() {
        match value {
            Value::Number(number) => {
                if number.as_f64().is_some_and(|number| number.abs() > f64::from(f32::MAX)) {
                    return true;
                }
            }
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    false
}

impl Unstorable {
    /// Returns the path and the message of an overflow, if the value holds a number that is not finite.
    #[doc(hidden)]
    pub fn overflow(&self) -> Option<(&str, &'static str)> {
        self.is_because_of(NOT_FINITE).then(|| (self.path(), OVERFLOWS))
    }

    /// Returns an error for reading the value, if it holds a number that is not finite.
    #[doc(hidden)]
    pub fn into_overflow(self) -> Option<Unreadable> {
        let (path, overflows) = self.overflow()?;
        Some(match path {
            "" => Unreadable::new(overflows),
            path => Unreadable::quoting(format!("at `${path}`, {overflows}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde::{Deserialize, Serialize};

    use super::super::{from_json, from_payload};
    use super::*;

    #[test]
    fn large_numbers_are_found_wherever_they_are() {
        let long = "9".repeat(39);
        let short_exponents = [format!("{}e9", "9".repeat(38)), format!("-{}.5E+9", "9".repeat(30))];
        let large = [long.as_str(), "1e300", "-1e300", "[1.5e+39,2]", "{\"a\":\n1E39}", "3.5e38 "];
        for json in large.into_iter().chain(short_exponents.iter().map(String::as_str)) {
            assert!(may_overflow(json.as_bytes()), "{json}");
            for padding in 0..140 {
                let padded = format!("[{}{json}]", " ".repeat(padding));
                assert!(may_overflow(padded.as_bytes()), "{padded}");
            }
        }
        let small = format!("{}e9", "9".repeat(20));
        for json in
            [small.as_str(), "", "1", "e", "1e5", "1e-300", "\"3e9f\"", "\"0e12-4a\"", "[1,\"e12\"]", "true"]
        {
            assert!(!may_overflow(json.as_bytes()), "{json}");
        }
    }

    #[test]
    fn payloads_in_one_buffer_are_searched_together() {
        let buffer: Arc<[u8]> = Arc::from(*b"[1e\n5]\n[1e300]\n[1]");
        let part = |range| Payload::part_of(Encoding::Json, Arc::clone(&buffer), range).unwrap();
        let (open, small, large, last) = (part(0..3), part(4..6), part(7..14), part(15..18));
        assert!(any_may_overflow([&open, &small, &large, &last]));
        assert!(any_may_overflow([&last, &large]));
        assert!(!any_may_overflow([&open, &small, &last]));
        assert!(!any_may_overflow([&last, &Payload::new(Encoding::Bytes, *b"1e300")]));
        assert!(any_may_overflow([&last, &Payload::json("1e300")]));
    }

    #[test]
    fn number_ends_with_its_payload() {
        for (buffer, second) in [("1e300\"x\"", 5..8), ("1e300,\"x\"", 6..9), ("1e300\n\"x\"", 6..9)] {
            let buffer: Arc<[u8]> = Arc::from(buffer.as_bytes());
            let part = |range| Payload::part_of(Encoding::Json, Arc::clone(&buffer), range).unwrap();
            assert!(any_may_overflow([&part(0..5), &part(second)]));
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(untagged)]
    enum Buffered {
        Number(f32),
        Text(String),
    }

    #[test]
    fn overflow_is_refused_with_its_path() {
        let refused = format!("at `$[1]`, {OVERFLOWS}");
        // serde_json itself refuses the number where it is not buffered.
        assert!(from_payload::<Vec<f32>>(&Payload::json("[1,-1e39]")).is_err());
        let read = |json: &str| from_payload::<Vec<Option<Buffered>>>(&Payload::json(json));
        assert_eq!(read("[1,-1e39]").unwrap_err().to_string(), refused);
        assert_eq!(read("[null,1e38]").unwrap(), [None, Some(Buffered::Number(1e38))]);
        let error = from_json::<Vec<f32>>(serde_json::json!([0, 1e39])).unwrap_err();
        assert_eq!(error.to_string(), refused);
        assert_eq!(from_json::<f32>(serde_json::json!(1e300)).unwrap_err().to_string(), OVERFLOWS);
        assert_eq!(from_json::<f64>(serde_json::json!(1e300)).unwrap(), 1e300);
    }
}
