//! A serializer for JSON that is read back as the same value.

use serde::ser::{Error as _, Serialize, Serializer};

mod inside;
mod key;
mod refused;

use inside::{Inside, StrictValue};
pub(super) use refused::Refused;

/// The greatest depth of nested arrays and objects that serde_json reads.
const MAX_DEPTH: u8 = 127;
const NOT_FINITE: &str = "JSON cannot represent a number that is not finite";

/// Writes JSON that is read back as the same value, and refuses values that JSON cannot represent.
///
/// It wraps a serializer. [`Refused`] receives the reason of a refusal and the path to the refused value.
pub struct Strict<'r, S> {
    inner: S,
    refused: &'r Refused,
    at: At,
}

/// A position in a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    /// The number of arrays and objects that contain the position.
    depth: u8,
    /// `true` if only `Some` and newtype structs, which leave no trace in JSON, contain the position.
    whole: bool,
    /// `true` directly inside a `Some`, where null would be read back as `None`.
    some: bool,
}

impl At {
    /// A position inside `depth` arrays and objects.
    fn inside(depth: u8) -> Self {
        Self { depth, whole: false, some: false }
    }
}

impl<'r, S: Serializer> Strict<'r, S> {
    /// A serializer of a whole value.
    pub(super) fn whole(inner: S, refused: &'r Refused) -> Self {
        Self { inner, refused, at: At { depth: 0, whole: true, some: false } }
    }

    fn refuse(&self, why: &'static str) -> S::Error {
        self.refused.refuse(why);
        S::Error::custom(why)
    }

    /// Returns the depth `by` levels further in.
    fn deeper(&self, by: u8) -> Result<u8, S::Error> {
        match self.at.depth.checked_add(by) {
            Some(depth) if depth <= MAX_DEPTH => Ok(depth),
            _ => Err(self.refuse("it is nested more than 127 levels deep, and could not be read back")),
        }
    }

    fn null(self, write: impl FnOnce(S) -> Result<S::Ok, S::Error>) -> Result<S::Ok, S::Error> {
        if self.at.some {
            return Err(self.refuse(
                "it is a `Some` of a value that is written as null, and would be read back as `None`",
            ));
        }
        write(self.inner)
    }
}

macro_rules! forward {
    ($($method:ident($of:ty);)*) => {$(
        #[inline]
        fn $method(self, value: $of) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        }
    )*};
}

impl<'r, S: Serializer> Serializer for Strict<'r, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Inside<'r, S::SerializeSeq>;
    type SerializeTuple = Inside<'r, S::SerializeTuple>;
    type SerializeTupleStruct = Inside<'r, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Inside<'r, S::SerializeTupleVariant>;
    type SerializeMap = Inside<'r, S::SerializeMap>;
    type SerializeStruct = Inside<'r, S::SerializeStruct>;
    type SerializeStructVariant = Inside<'r, S::SerializeStructVariant>;

    forward! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_i128(i128);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_u128(u128);
        serialize_char(char);
        serialize_str(&str);
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn serialize_f32(self, value: f32) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.inner.serialize_f32(value) } else { Err(self.refuse(NOT_FINITE)) }
    }

    fn serialize_f64(self, value: f64) -> Result<S::Ok, S::Error> {
        if value.is_finite() { self.inner.serialize_f64(value) } else { Err(self.refuse(NOT_FINITE)) }
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<S::Ok, S::Error> {
        if self.at.whole {
            self.refused.keep_bytes(value);
            // A value has to be written here; `encode` replaces it by the bytes.
            return self.inner.serialize_unit();
        }
        self.deeper(1)?;
        self.inner.serialize_bytes(value)
    }

    fn serialize_none(self) -> Result<S::Ok, S::Error> {
        self.null(S::serialize_none)
    }

    fn serialize_unit(self) -> Result<S::Ok, S::Error> {
        self.null(S::serialize_unit)
    }

    fn serialize_unit_struct(self, name: &'static str) -> Result<S::Ok, S::Error> {
        self.null(|inner| inner.serialize_unit_struct(name))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        let nested = StrictValue { value, refused: self.refused, at: At { some: true, ..self.at } };
        self.inner.serialize_some(&nested)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_struct(name, &StrictValue { value, refused: self.refused, at: self.at })
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        let (at, refused) = (At::inside(self.deeper(1)?), self.refused);
        let written =
            self.inner.serialize_newtype_variant(name, index, variant, &StrictValue { value, refused, at });
        written.inspect_err(|_| refused.push_path_key(variant))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Inside::new(self.inner.serialize_seq(len)?, self.refused, depth, None))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Inside::new(self.inner.serialize_tuple(len)?, self.refused, depth, None))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Inside::new(self.inner.serialize_tuple_struct(name, len)?, self.refused, depth, None))
    }

    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleVariant, S::Error> {
        let depth = self.deeper(2)?;
        let inner = self.inner.serialize_tuple_variant(name, index, variant, len)?;
        Ok(Inside::new(inner, self.refused, depth, Some(variant)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Inside::new(self.inner.serialize_map(len)?, self.refused, depth, None))
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Inside::new(self.inner.serialize_struct(name, len)?, self.refused, depth, None))
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStructVariant, S::Error> {
        let depth = self.deeper(2)?;
        let inner = self.inner.serialize_struct_variant(name, index, variant, len)?;
        Ok(Inside::new(inner, self.refused, depth, Some(variant)))
    }
}
