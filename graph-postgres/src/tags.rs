//! Tags: hashes of the entries of metadata, which an index holds.
//!
//! Equal entries have equal tags. Different entries may have equal tags too, so a caller that selects by tags also compares
//! the entries.

use serde_json::{Number, Value};
use superstep_store::Metadata;

/// Returns the tags of metadata, sorted.
pub(crate) fn tags(metadata: &Metadata) -> Vec<i64> {
    let mut tags: Vec<i64> = metadata.iter().map(|(key, value)| tag(key, value)).collect();
    tags.sort_unstable();
    tags.dedup();
    tags
}

/// Returns `true` if metadata have all of these keys with exactly these values.
pub(crate) fn has_all(metadata: &Metadata, wanted: &Metadata) -> bool {
    wanted.iter().all(|(key, value)| metadata.get(key) == Some(value))
}

fn tag(key: &str, value: &Value) -> i64 {
    let mut hash = Hash::default();
    hash.text(key);
    hash.value(value);
    hash.0.cast_signed()
}

/// FNV-1a with 64 bits. Stored tags depend on it, so it never changes.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn text(&mut self, text: &str) {
        self.bytes(&(text.len() as u64).to_be_bytes());
        self.bytes(text.as_bytes());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(b"n"),
            Value::Bool(false) => self.bytes(b"f"),
            Value::Bool(true) => self.bytes(b"t"),
            Value::Number(number) => self.number(number),
            Value::String(text) => {
                self.bytes(b"s");
                self.text(text);
            }
            Value::Array(items) => {
                self.bytes(b"a");
                self.bytes(&(items.len() as u64).to_be_bytes());
                items.iter().for_each(|item| self.value(item));
            }
            Value::Object(entries) => {
                self.bytes(b"o");
                self.bytes(&(entries.len() as u64).to_be_bytes());
                // The order of the keys does not matter, whatever order this build of serde_json keeps.
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_unstable_by_key(|(key, _)| *key);
                for (key, value) in sorted {
                    self.text(key);
                    self.value(value);
                }
            }
        }
    }

    fn number(&mut self, number: &Number) {
        self.bytes(b"#");
        // The two zeros are equal.
        let text = number.to_string();
        self.text(if text == "-0.0" { "0.0" } else { &text });
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_values_have_equal_tags() {
        assert_eq!(tag("k", &json!({"a": 1, "b": [0.0]})), tag("k", &json!({"b": [-0.0], "a": 1})));
        for (one, other) in [(json!(1), json!(1.0)), (json!("1"), json!(1)), (json!(null), json!("null"))] {
            assert_ne!(tag("k", &one), tag("k", &other));
        }
        assert_ne!(tag("k", &json!(1)), tag("l", &json!(1)));
        // A stored tag is compared with that of a later version.
        assert_eq!(tag("user", &json!("Ada")), tag("user", &json!("Ada")));
    }
}
