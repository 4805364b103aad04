//! JSON that is read back unchanged.

use serde::ser::{Error as _, Serialize, Serializer};

use crate::limits::MAX_DEPTH;

mod compound;
mod key;
mod report;

use compound::{Compound, Nested};
pub(super) use report::Report;

const TOO_DEEP: &str = "its arrays and objects are nested more than 127 deep, which cannot be read back: flatten it, or \
                        store it as a string";
pub(super) const NOT_FINITE: &str = "JSON cannot represent NaN or infinity";

/// A serializer that writes JSON which is read back to the same value, and refuses values that JSON cannot hold.
///
/// It wraps another serializer.
pub struct Strict<'r, S> {
    inner: S,
    report: &'r Report,
    position: Position,
}

/// The position of a nested value in the whole value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    /// The number of enclosing arrays and objects.
    depth: u8,
    /// `true` if the value is written as the whole JSON: it is enclosed only by `Some` and newtype structs.
    whole: bool,
    /// `true` if the value is directly inside a `Some`: null would be read back as `None`.
    some: bool,
}

impl Position {
    /// Creates the position of a value inside this number of arrays and objects.
    fn nested(depth: u8) -> Self {
        Self { depth, whole: false, some: false }
    }
}

impl<'r, S: Serializer> Strict<'r, S> {
    /// Creates a serializer for a whole value.
    pub(super) fn whole(inner: S, report: &'r Report) -> Self {
        Self { inner, report, position: Position { depth: 0, whole: true, some: false } }
    }

    fn refuse(&self, reason: &'static str) -> S::Error {
        self.report.refuse(reason);
        S::Error::custom(reason)
    }

    /// Returns the depth `by` levels further in.
    fn deeper(&self, by: u8) -> Result<u8, S::Error> {
        match self.position.depth.checked_add(by) {
            Some(depth) if usize::from(depth) <= MAX_DEPTH => Ok(depth),
            _ => Err(self.refuse(TOO_DEEP)),
        }
    }

    fn null(self, write: impl FnOnce(S) -> Result<S::Ok, S::Error>) -> Result<S::Ok, S::Error> {
        if self.position.some {
            return Err(self.refuse(
                "it is a `Some` with content that is written as null, so it would be read as `None`",
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
    type SerializeSeq = Compound<'r, S::SerializeSeq>;
    type SerializeTuple = Compound<'r, S::SerializeTuple>;
    type SerializeTupleStruct = Compound<'r, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Compound<'r, S::SerializeTupleVariant>;
    type SerializeMap = Compound<'r, S::SerializeMap>;
    type SerializeStruct = Compound<'r, S::SerializeStruct>;
    type SerializeStructVariant = Compound<'r, S::SerializeStructVariant>;

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
        if self.position.whole {
            self.report.set_bytes(value);
            // A serializer must write something. The bytes replace it.
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
        let nested =
            Nested { value, report: self.report, position: Position { some: true, ..self.position } };
        self.inner.serialize_some(&nested)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner
            .serialize_newtype_struct(name, &Nested { value, report: self.report, position: self.position })
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
        let (position, report) = (Position::nested(self.deeper(1)?), self.report);
        let written =
            self.inner.serialize_newtype_variant(name, index, variant, &Nested { value, report, position });
        written.inspect_err(|_| report.push_key(variant))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Self::SerializeSeq, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Compound::new(self.inner.serialize_seq(len)?, self.report, depth, None))
    }

    fn serialize_tuple(self, len: usize) -> Result<Self::SerializeTuple, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Compound::new(self.inner.serialize_tuple(len)?, self.report, depth, None))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeTupleStruct, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Compound::new(self.inner.serialize_tuple_struct(name, len)?, self.report, depth, None))
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
        Ok(Compound::new(inner, self.report, depth, Some(variant)))
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Self::SerializeMap, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Compound::new(self.inner.serialize_map(len)?, self.report, depth, None))
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Self::SerializeStruct, S::Error> {
        let depth = self.deeper(1)?;
        Ok(Compound::new(self.inner.serialize_struct(name, len)?, self.report, depth, None))
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
        Ok(Compound::new(inner, self.report, depth, Some(variant)))
    }
}
