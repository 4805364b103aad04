use serde::de::value::SeqDeserializer;
use serde::de::{Deserializer, Visitor};
use serde_json::Error;
use serde_json::de::StrRead;

use super::{Encoding, Payload, Unreadable};

/// The deserializer that reads a payload.
#[non_exhaustive]
pub enum PayloadDeserializer<'a, 'de> {
    /// JSON.
    Json(&'a mut serde_json::Deserializer<StrRead<'de>>),
    /// The bytes of a value that serializes as bytes.
    Bytes(&'de [u8]),
}

/// Reads a whole payload with a function.
///
/// # Errors
/// [`Unreadable`] if the payload is encrypted, has bytes after the value, or the function fails.
pub fn read_payload<T>(
    payload: &Payload,
    read: impl FnOnce(PayloadDeserializer<'_, '_>) -> Result<T, Error>,
) -> Result<T, Unreadable> {
    let mut json = None;
    open(payload, &mut json)?;
    let from = match &mut json {
        Some(json) => PayloadDeserializer::Json(json),
        None => PayloadDeserializer::Bytes(payload.bytes()),
    };
    match read(from) {
        Ok(value) => end(&mut json).map(|()| value),
        Err(error) => Err(error.into()),
    }
}

/// Sets the reader of a payload, if it is JSON.
// Not a part of the function above, which is compiled again for each type.
fn open<'de>(
    payload: &'de Payload,
    json: &mut Option<serde_json::Deserializer<StrRead<'de>>>,
) -> Result<(), Unreadable> {
    match payload.encoding() {
        Encoding::Json => {
            *json = Some(serde_json::Deserializer::from_str(json_text(payload.bytes())?));
            Ok(())
        }
        Encoding::Bytes => Ok(()),
        Encoding::Sealed => {
            Err(Unreadable::new("it is encrypted: wrap the checkpoint store in an `EncryptedCheckpointer`"))
        }
    }
}

/// Returns JSON as a string.
// Checked as a whole: a reader of bytes checks each of its strings, which takes two to three times as long.
pub(super) fn json_text(json: &[u8]) -> Result<&str, Unreadable> {
    std::str::from_utf8(json).map_err(|_| Unreadable::new("it is not valid UTF-8"))
}

/// Refuses bytes after the value.
fn end(json: &mut Option<serde_json::Deserializer<StrRead<'_>>>) -> Result<(), Unreadable> {
    match json {
        Some(json) => Ok(json.end()?),
        None => Ok(()),
    }
}

macro_rules! forward {
    ($($method:ident($($argument:ident: $of:ty),*) or $bytes:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $of,)* visitor: V) -> Result<V::Value, Error> {
            match self {
                Self::Json(json) => json.$method($($argument,)* visitor),
                Self::Bytes(bytes) => $bytes(bytes, visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for PayloadDeserializer<'_, 'de> {
    type Error = Error;

    forward! {
        deserialize_any() or visit_bytes;
        deserialize_bool() or visit_bytes;
        deserialize_i8() or visit_bytes;
        deserialize_i16() or visit_bytes;
        deserialize_i32() or visit_bytes;
        deserialize_i64() or visit_bytes;
        deserialize_i128() or visit_bytes;
        deserialize_u8() or visit_bytes;
        deserialize_u16() or visit_bytes;
        deserialize_u32() or visit_bytes;
        deserialize_u64() or visit_bytes;
        deserialize_u128() or visit_bytes;
        deserialize_f32() or visit_bytes;
        deserialize_f64() or visit_bytes;
        deserialize_char() or visit_bytes;
        deserialize_str() or visit_bytes;
        deserialize_string() or visit_bytes;
        deserialize_bytes() or visit_bytes;
        deserialize_byte_buf() or visit_bytes;
        deserialize_unit() or visit_bytes;
        deserialize_unit_struct(name: &'static str) or visit_bytes;
        deserialize_seq() or visit_seq;
        deserialize_tuple(len: usize) or visit_seq;
        deserialize_tuple_struct(name: &'static str, len: usize) or visit_seq;
        deserialize_map() or visit_bytes;
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) or visit_bytes;
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) or visit_bytes;
        deserialize_identifier() or visit_bytes;
        deserialize_ignored_any() or visit_bytes;
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self {
            Self::Json(json) => json.deserialize_option(visitor),
            Self::Bytes(_) => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self {
            Self::Json(json) => json.deserialize_newtype_struct(name, visitor),
            Self::Bytes(_) => visitor.visit_newtype_struct(self),
        }
    }
}

fn visit_bytes<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value, Error> {
    visitor.visit_byte_buf(bytes.to_vec())
}

/// Supports types that serialize as bytes and deserialize a sequence of numbers, as they can from JSON.
fn visit_seq<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value, Error> {
    visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied()))
}

#[cfg(test)]
mod tests {
    use super::super::{Encoding, Payload, from_json_text, from_payload};

    #[test]
    fn json_is_one_value_in_utf8() {
        let read = |json: &[u8]| {
            let result = from_payload::<Vec<String>>(&Payload::new(Encoding::Json, json));
            assert_eq!(from_json_text(json), result);
            result.map_err(|error| error.to_string())
        };
        assert_eq!(read("[\"\u{e9}\", \"\\u00e9\"]\n".as_bytes()), Ok(vec!["\u{e9}".to_owned(); 2]));
        assert_eq!(read(b"[\"\xff\"]"), Err("it is not valid UTF-8".to_owned()));
        assert!(read(b"[] []").unwrap_err().starts_with("trailing characters"));
    }
}
