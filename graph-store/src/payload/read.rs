use serde::de::value::SeqDeserializer;
use serde::de::{Deserializer, Visitor};
use serde_json::Error;
use serde_json::de::SliceRead;

use super::{Encoding, Payload, Unreadable};

/// The deserializer that reads a payload.
pub enum PayloadDeserializer<'a, 'de> {
    /// JSON.
    Json(&'a mut serde_json::Deserializer<SliceRead<'de>>),
    /// The bytes of a value that consists only of bytes.
    Bytes(&'de [u8]),
}

/// Reads the whole of a payload with a function.
///
/// # Errors
/// The payload is sealed, has bytes after the value, or the function fails.
pub fn read_payload<T>(
    payload: &Payload,
    read: impl FnOnce(PayloadDeserializer<'_, '_>) -> Result<T, Error>,
) -> Result<T, Unreadable> {
    Ok(match payload.encoding() {
        Encoding::Json => {
            let mut json = serde_json::Deserializer::from_slice(payload.bytes());
            let value = read(PayloadDeserializer::Json(&mut json))?;
            json.end()?;
            value
        }
        Encoding::Bytes => read(PayloadDeserializer::Bytes(payload.bytes()))?,
        Encoding::Sealed => return Err(Unreadable::new("it is encrypted and was not decrypted")),
    })
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
        deserialize_any() or whole;
        deserialize_bool() or whole;
        deserialize_i8() or whole;
        deserialize_i16() or whole;
        deserialize_i32() or whole;
        deserialize_i64() or whole;
        deserialize_i128() or whole;
        deserialize_u8() or whole;
        deserialize_u16() or whole;
        deserialize_u32() or whole;
        deserialize_u64() or whole;
        deserialize_u128() or whole;
        deserialize_f32() or whole;
        deserialize_f64() or whole;
        deserialize_char() or whole;
        deserialize_str() or whole;
        deserialize_string() or whole;
        deserialize_bytes() or whole;
        deserialize_byte_buf() or whole;
        deserialize_unit() or whole;
        deserialize_unit_struct(name: &'static str) or whole;
        deserialize_seq() or each;
        deserialize_tuple(len: usize) or each;
        deserialize_tuple_struct(name: &'static str, len: usize) or each;
        deserialize_map() or whole;
        deserialize_struct(name: &'static str, fields: &'static [&'static str]) or whole;
        deserialize_enum(name: &'static str, variants: &'static [&'static str]) or whole;
        deserialize_identifier() or whole;
        deserialize_ignored_any() or whole;
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

fn whole<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value, Error> {
    visitor.visit_byte_buf(bytes.to_vec())
}

/// Supports types that write bytes but read a list of numbers, as they could from JSON.
fn each<'de, V: Visitor<'de>>(bytes: &'de [u8], visitor: V) -> Result<V::Value, Error> {
    visitor.visit_seq(SeqDeserializer::new(bytes.iter().copied()))
}
