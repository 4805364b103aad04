//! The canonical string of a value: equal for equal values, different for different ones.

use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::Serialize;
use serde::de::{Deserializer as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::payload::Encoding;

use crate::payload::to_payload;

/// Returns a value as JSON with sorted objects, and bytes as a string that is not JSON. The error is a message.
pub(crate) fn canonical<T: Serialize>(value: &T) -> Result<Arc<str>, String> {
    let payload = to_payload(value).map_err(|unstorable| unstorable.to_string())?;
    let mut text = String::with_capacity(payload.len());
    match payload.encoding() {
        Encoding::Json => {
            let json = std::str::from_utf8(payload.bytes()).map_err(|error| error.to_string())?;
            sorted(json, &mut text).map_err(|error| error.to_string())?;
        }
        _ => {
            text.push('x');
            for byte in payload.bytes() {
                // Writing into a `String` cannot fail.
                let _ = write!(text, "{byte:02x}");
            }
        }
    }
    Ok(text.into())
}

/// Writes JSON with sorted objects. Numbers and strings stay as written; the encoder has checked the depth before.
fn sorted(json: &str, into: &mut String) -> serde_json::Result<()> {
    let mut from = serde_json::Deserializer::from_str(json);
    match json.as_bytes().first() {
        Some(b'{') => {
            let mut entries = from.deserialize_map(Entries)?;
            entries.sort_by(|a, b| (&a.0, a.1.get()).cmp(&(&b.0, b.1.get())));
            into.push('{');
            for (nth, (key, value)) in entries.iter().enumerate() {
                if nth > 0 {
                    into.push(',');
                }
                into.push_str(&serde_json::to_string(key)?);
                into.push(':');
                sorted(value.get(), into)?;
            }
            into.push('}');
        }
        Some(b'[') => {
            into.push('[');
            for (nth, value) in from.deserialize_seq(Items)?.iter().enumerate() {
                if nth > 0 {
                    into.push(',');
                }
                sorted(value.get(), into)?;
            }
            into.push(']');
        }
        _ => into.push_str(json),
    }
    Ok(())
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(entries)
    }
}

struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, HashMap};

    use serde::{Serialize, Serializer};

    use super::canonical;

    #[derive(Serialize)]
    struct Query {
        words: Vec<&'static str>,
        limit: Option<u8>,
        by: BTreeMap<u8, f64>,
    }

    struct Bytes(&'static [u8]);

    impl Serialize for Bytes {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.serialize_bytes(self.0)
        }
    }

    fn check(value: &impl Serialize, expected: &str) {
        assert_eq!(&*canonical(value).unwrap(), expected);
    }

    #[test]
    fn value_has_one_canonical_string() {
        check(&"a\"b", r#""a\"b""#);
        check(&(), "null");
        check(&(1, "1", u128::MAX), "[1,\"1\",340282366920938463463374607431768211455]");
        let by = BTreeMap::from([(10, 0.1), (9, 1e300)]);
        check(
            &Query { words: vec!["b", "a"], limit: None, by },
            r#"{"by":{"10":0.1,"9":1e+300},"limit":null,"words":["b","a"]}"#,
        );
        check(&Bytes(&[0, 255]), "x00ff");
        check(&"x00ff", "\"x00ff\"");
    }

    #[test]
    fn order_of_a_map_does_not_matter() {
        let strings: Vec<_> = (0..20)
            .map(|_| {
                // Each map has its own iteration order.
                let map: HashMap<String, HashMap<u8, u8>> =
                    (0..10).map(|n| (format!("k{n}"), (0..10).map(|n| (n, n)).collect())).collect();
                canonical(&map).unwrap()
            })
            .collect();
        assert!(strings.iter().all(|string| *string == strings[0]), "{strings:?}");
    }

    #[test]
    fn values_that_json_cannot_represent_are_refused() {
        for refused in
            [canonical(&f64::NAN), canonical(&Some(None::<u8>)), canonical(&HashMap::from([((1, 2), 3)]))]
        {
            assert!(refused.unwrap_err().starts_with("cannot be stored"));
        }
    }
}
