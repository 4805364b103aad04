use serde::ser::{Error as _, Impossible, Serialize, Serializer};

use super::report::Report;

/// A key of a map. JSON keys are strings, so a key must be a string or be readable from one.
pub(super) struct Key<'r, K: ?Sized> {
    pub(super) key: &'r K,
    pub(super) report: &'r Report,
}

impl<K: Serialize + ?Sized> Serialize for Key<'_, K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.key.serialize(KeySerializer { inner: serializer, report: self.report })
    }
}

pub(super) struct KeySerializer<'r, S> {
    inner: S,
    report: &'r Report,
}

impl<S: Serializer> KeySerializer<'_, S> {
    fn refuse<T>(self) -> Result<T, S::Error> {
        let reason = "a key of a JSON object must be a string, an integer, a `bool` or the name of a variant";
        self.report.refuse(reason);
        Err(S::Error::custom(reason))
    }
}

macro_rules! keys {
    ($($method:ident($of:ty);)*) => {$(
        #[inline]
        fn $method(self, value: $of) -> Result<S::Ok, S::Error> {
            self.inner.$method(value)
        }
    )*};
}

macro_rules! refused_keys {
    ($($method:ident($($of:ty),*) -> $ok:ty;)*) => {$(
        fn $method(self, $(_: $of),*) -> Result<$ok, S::Error> {
            self.refuse()
        }
    )*};
}

impl<S: Serializer> Serializer for KeySerializer<'_, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = Impossible<S::Ok, S::Error>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    keys! {
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

    refused_keys! {
        serialize_f32(f32) -> S::Ok;
        serialize_f64(f64) -> S::Ok;
        serialize_bytes(&[u8]) -> S::Ok;
        serialize_none() -> S::Ok;
        serialize_unit() -> S::Ok;
        serialize_unit_struct(&'static str) -> S::Ok;
        serialize_seq(Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct(&'static str, usize) -> Self::SerializeStruct;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }

    fn collect_str<T: std::fmt::Display + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.collect_str(value)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<S::Ok, S::Error> {
        self.refuse()
    }

    fn serialize_unit_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_unit_variant(name, index, variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_struct(name, &Key { key: value, report: self.report })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<S::Ok, S::Error> {
        self.refuse()
    }
}
