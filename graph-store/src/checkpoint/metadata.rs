use serde_json::{Number, Value};

/// Returns a digest of one key of metadata and its value, for an index over metadata.
///
/// Equal keys and values have the same digest in every version and on every machine. Others may have it too, so a store
/// compares the metadata of what it finds.
///
/// ```
/// use superstep::checkpoint::metadata_digest;
///
/// assert_eq!(metadata_digest("n", &0.0.into()), metadata_digest("n", &(-0.0).into()));
/// assert_ne!(metadata_digest("n", &1.into()), metadata_digest("n", &"1".into()));
/// ```
pub fn metadata_digest(key: &str, value: &Value) -> u64 {
    let mut digest = Digest::new();
    digest.text(key);
    digest.value(value);
    digest.0
}

/// The hash function FNV-1a.
struct Digest(u64);

impl Digest {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.bytes(&[0]),
            Value::Bool(value) => self.bytes(&[1, u8::from(*value)]),
            Value::Number(value) => self.json_number(value),
            Value::String(text) => {
                self.bytes(&[5]);
                self.text(text);
            }
            Value::Array(items) => {
                self.bytes(&[6]);
                self.number(items.len() as u64);
                items.iter().for_each(|item| self.value(item));
            }
            Value::Object(entries) => {
                // Equal objects may have their keys in different orders.
                let sum = entries.iter().map(|(key, value)| metadata_digest(key, value));
                let sum = sum.fold(0, u64::wrapping_add);
                self.bytes(&[7]);
                self.number(entries.len() as u64);
                self.number(sum);
            }
        }
    }

    fn json_number(&mut self, number: &Number) {
        if let Some(number) = number.as_u64() {
            self.bytes(&[2]);
            self.number(number);
        } else if let Some(number) = number.as_i64() {
            self.bytes(&[3]);
            self.number(number.cast_unsigned());
        } else {
            // Adding zero makes the two zeros equal, as they compare.
            self.bytes(&[4]);
            self.number(number.as_f64().map_or(0, |number| (number + 0.0).to_bits()));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn digests_never_change() {
        let found = metadata_digest("user", &json!({"name": "Ada", "n": [1, -1, 1.5, null, true]}));
        assert_eq!(found, DIGEST, "{found:#x}");
    }

    const DIGEST: u64 = 0xb740_53f2_8d0b_4791;

    #[test]
    fn digests_are_equal_where_values_are() {
        let values = [
            json!(null),
            json!(false),
            json!(0),
            json!(0.0),
            json!(-0.0),
            json!(1),
            json!(1.0),
            json!(-1),
            json!(u64::MAX),
            json!("1"),
            json!(""),
            json!([]),
            json!({}),
            json!([[]]),
            json!({"a": 1, "b": 2}),
            json!({"b": 2, "a": 1}),
            json!({"a": 2, "b": 1}),
        ];
        for one in &values {
            for other in &values {
                let equal = metadata_digest("k", one) == metadata_digest("k", other);
                assert_eq!(equal, one == other, "{one} and {other}");
            }
            assert_ne!(metadata_digest("k", one), metadata_digest("", one));
        }
    }
}
