//! The contents of arrays and objects.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use super::key::Key;
use super::report::Report;
use super::{Position, Strict};

/// A nested value. It is written strictly by any serializer.
pub(super) struct Nested<'r, T: ?Sized> {
    pub(super) value: &'r T,
    pub(super) report: &'r Report,
    pub(super) position: Position,
}

impl<T: Serialize + ?Sized> Serialize for Nested<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Strict { inner: serializer, report: self.report, position: self.position })
    }
}

/// A serializer of an array or an object.
pub struct Compound<'r, C> {
    inner: C,
    report: &'r Report,
    position: Position,
    /// The enum variant that has this content.
    variant: Option<&'static str>,
    /// The index of the next item.
    index: usize,
}

impl<'r, C> Compound<'r, C> {
    pub(super) fn new(inner: C, report: &'r Report, depth: u8, variant: Option<&'static str>) -> Self {
        Self { inner, report, position: Position::nested(depth), variant, index: 0 }
    }

    fn item<T: ?Sized, E>(
        &mut self,
        value: &T,
        write: impl FnOnce(&mut C, &Nested<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let written = write(&mut self.inner, &Nested { value, report: self.report, position: self.position });
        if written.is_err() {
            self.report.set_incomplete();
            self.report.push_index(self.index);
            self.push_variant();
        }
        self.index += 1;
        written
    }

    fn field<T: ?Sized, E>(
        &mut self,
        key: &'static str,
        value: &T,
        write: impl FnOnce(&mut C, &Nested<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let written = write(&mut self.inner, &Nested { value, report: self.report, position: self.position });
        if written.is_err() {
            self.report.set_incomplete();
            self.report.push_key(key);
            self.push_variant();
        }
        written
    }

    fn push_variant(&self) {
        if let Some(variant) = self.variant {
            self.report.push_key(variant);
        }
    }
}

macro_rules! items {
    ($($of:ident $method:ident;)*) => {$(
        impl<C: $of> $of for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            #[inline]
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
                self.item(value, |inner, value| inner.$method(value))
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

items! {
    SerializeSeq serialize_element;
    SerializeTuple serialize_element;
    SerializeTupleStruct serialize_field;
    SerializeTupleVariant serialize_field;
}

macro_rules! fields {
    ($($of:ident;)*) => {$(
        impl<C: $of> $of for Compound<'_, C> {
            type Ok = C::Ok;
            type Error = C::Error;

            #[inline]
            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), C::Error> {
                self.field(key, value, |inner, value| inner.serialize_field(key, value))
            }

            fn skip_field(&mut self, key: &'static str) -> Result<(), C::Error> {
                self.inner.skip_field(key)
            }

            fn end(self) -> Result<C::Ok, C::Error> {
                self.inner.end()
            }
        }
    )*};
}

fields! {
    SerializeStruct;
    SerializeStructVariant;
}

impl<C: SerializeMap> SerializeMap for Compound<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), C::Error> {
        let written = self.inner.serialize_key(&Key { key, report: self.report });
        written.inspect_err(|_| self.report.set_incomplete())
    }

    // The key is not known here, so the path to a refused value lacks it.
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        let value = Nested { value, report: self.report, position: self.position };
        self.inner.serialize_value(&value).inspect_err(|_| self.report.set_incomplete())
    }

    #[inline]
    fn serialize_entry<K: Serialize + ?Sized, T: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &T,
    ) -> Result<(), C::Error> {
        self.serialize_key(key)?;
        self.serialize_value(value).inspect_err(|_| match serde_json::to_value(key) {
            Ok(Value::String(key)) => self.report.push_key(key),
            Ok(key) => self.report.push_key(key.to_string()),
            Err(_) => {}
        })
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}
