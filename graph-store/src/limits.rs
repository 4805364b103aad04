//! The limits of stored data. They are the same for every store.
//!
//! Everything within the limits can be stored and read back. Everything else is refused before it is stored, and the
//! error names the value, the limit and the way out.
//!
//! A store checks them with [`WriteBatch::check_limits`](crate::checkpoint::WriteBatch::check_limits),
//! [`ItemWrites::check_limits`](crate::store::ItemWrites::check_limits) or
//! [`NewEntry::check_limits`](crate::cache::NewEntry::check_limits).
//!
//! | limit | applies to |
//! |---|---|
//! | [`MAX_DEPTH`] | the arrays and objects of a value, and those of the metadata of a run |
//! | [`MAX_VALUE_BYTES`] | a value of a program: a field, a delta, a packet, a question, an answer, a result, an item |
//! | [`MAX_PAYLOAD_BYTES`] | a payload in a store, and all changes of one field in one checkpoint together |
//! | [`MAX_METADATA_BYTES`] | the metadata of a run as JSON, and the description of its program |
//! | [`MAX_NAME_BYTES`] | a name: of a thread, a namespace, a run, a node, a field, a graph, an item |
//! | [`MAX_KEY_BYTES`] | the key of a record, and the origin of a thread |
//! | [`MAX_PLAN_BYTES`] | the names of the planned nodes of a checkpoint together |

use serde::Serialize;
use serde_json::{Serializer, Value};

use crate::Metadata;
use crate::payload::{Encoding, Payload};

/// The maximum nesting depth of arrays and objects. serde_json reads no deeper.
///
/// The metadata of a run are an object themselves, so a value in them has one level less.
pub const MAX_DEPTH: usize = 127;

/// The maximum size of a value as it is stored: 256 MiB.
pub const MAX_VALUE_BYTES: usize = 256 << 20;

/// The maximum size of a payload: 257 MiB. A record of the engine wraps a value, so it is larger than the value.
///
/// An [encrypted](Encoding::Sealed) payload may have 64 bytes more.
pub const MAX_PAYLOAD_BYTES: usize = MAX_VALUE_BYTES + (1 << 20);

/// The maximum size of the metadata of a run as JSON: 1 MiB.
pub const MAX_METADATA_BYTES: usize = 1 << 20;

/// The maximum length of a name: 8 KiB. The segments of a namespace of items count together, each with one byte more.
pub const MAX_NAME_BYTES: usize = 8 << 10;

/// The maximum length of the key of a record and of an origin: 16 KiB. Both contain names.
pub const MAX_KEY_BYTES: usize = 16 << 10;

/// The maximum length of the names of the planned nodes of a checkpoint together, each with three bytes more: 64 MiB.
pub const MAX_PLAN_BYTES: usize = 64 << 20;

/// The number of bytes that encryption may add to a payload.
const SEALED_BYTES: usize = 64;

/// The number of bytes that a change of a field counts in addition to its payload.
pub(crate) const CHANGE_BYTES: usize = 32;

/// The reason why something exceeds a limit, as it follows on its name.
pub(crate) type Excess = String;

/// Returns the size of a payload, without the bytes that encryption has added.
pub(crate) fn size(payload: &Payload) -> usize {
    match payload.encoding() {
        Encoding::Sealed => payload.len().saturating_sub(SEALED_BYTES),
        _ => payload.len(),
    }
}

/// Checks the size of a payload.
pub(crate) fn payload(payload: &Payload) -> Result<(), Excess> {
    bytes(size(payload), MAX_PAYLOAD_BYTES)
}

/// Checks a number of bytes of data.
pub(crate) fn bytes(found: usize, limit: usize) -> Result<(), Excess> {
    if found <= limit {
        return Ok(());
    }
    Err(format!(
        "has {found} bytes, but at most {limit} can be stored: keep large data elsewhere, and store a reference to it"
    ))
}

/// Checks the length of a name or a key, in bytes.
pub(crate) fn length(found: usize, limit: usize) -> Result<(), Excess> {
    if found <= limit {
        return Ok(());
    }
    Err(format!("is {found} bytes long, but at most {limit} can be stored: use a shorter one"))
}

/// Checks the depth and the size of metadata.
pub(crate) fn metadata(metadata: &Metadata) -> Result<(), Excess> {
    if metadata.is_empty() {
        return Ok(());
    }
    if let Some((key, _)) = metadata.iter().find(|(_, value)| is_deeper(value, MAX_DEPTH - 1)) {
        return Err(format!(
            "has arrays and objects that are nested more than {} deep at key `{}`, which cannot be read back: flatten the \
             value, or store it as a string",
            MAX_DEPTH - 1,
            shown(key),
        ));
    }
    bytes(json_size(metadata), MAX_METADATA_BYTES).map_err(|excess| {
        let largest = metadata.iter().max_by_key(|(key, value)| key.len().saturating_add(json_size(value)));
        let key = largest.map_or_else(String::new, |(key, _)| shown(key));
        format!("{excess}; its largest value is at key `{key}`")
    })
}

/// Returns `true` if the arrays and objects of a value are nested more than `levels` deep.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let deeper = |inner: &Value| is_deeper(inner, levels - 1);
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => true,
        Value::Array(items) => items.iter().any(deeper),
        Value::Object(entries) => entries.values().any(deeper),
        _ => false,
    }
}

fn json_size(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // A counter accepts every byte, and JSON values can always be written.
    let _ = value.serialize(&mut Serializer::new(&mut counter));
    counter.0
}

/// A writer that counts bytes.
struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 = self.0.saturating_add(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The number of characters of a name that an error text shows.
const SHOWN_CHARS: usize = 64;

/// Returns the beginning of a name, for an error text.
pub(crate) fn shown(name: &str) -> String {
    match name.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", name.get(..end).unwrap_or_default()),
        None => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn nested(levels: usize) -> Value {
        (0..levels)
            .fold(json!(1), |inner, level| if level % 2 == 0 { json!([inner]) } else { json!({"k": inner}) })
    }

    fn with(key: &str, value: Value) -> Metadata {
        Metadata::from_iter([("a".to_owned(), json!(true)), (key.to_owned(), value)])
    }

    #[test]
    fn metadata_at_the_limit_are_what_serde_json_reads() {
        for levels in [0, 1, 125, 126, 127, 128] {
            let metadata = with("deep", nested(levels));
            let text = serde_json::to_string(&metadata).unwrap();
            let readable = serde_json::from_str::<Metadata>(&text).is_ok();
            assert_eq!(super::metadata(&metadata).is_ok(), readable, "{levels} levels");
        }
        let error = metadata(&with("deep", nested(127))).unwrap_err();
        assert!(error.contains("nested more than 126 deep at key `deep`"), "{error}");
    }

    #[test]
    fn metadata_are_limited_as_json() {
        let of = |bytes: usize| with("big", Value::from("x".repeat(bytes)));
        let around = r#"{"a":true,"big":""}"#.len();
        assert_eq!(metadata(&of(MAX_METADATA_BYTES - around)), Ok(()));
        let error = metadata(&of(MAX_METADATA_BYTES - around + 1)).unwrap_err();
        assert!(error.starts_with("has 1048577 bytes, but at most 1048576 can be stored"), "{error}");
        assert!(error.ends_with("its largest value is at key `big`"), "{error}");
    }

    #[test]
    fn long_names_are_shortened_in_errors() {
        assert_eq!(shown("short"), "short");
        assert_eq!(shown(&"é".repeat(65)), format!("{}…", "é".repeat(64)));
    }
}
