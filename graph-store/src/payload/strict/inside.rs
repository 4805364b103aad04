//! What lies inside of arrays and objects.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use super::key::Key;
use super::refused::Refused;
use super::{At, Strict};

/// A value that is written strictly by whatever serializer it is handed to.
pub(super) struct Nested<'r, T: ?Sized> {
    pub(super) value: &'r T,
    pub(super) refused: &'r Refused,
    pub(super) at: At,
}

impl<T: Serialize + ?Sized> Serialize for Nested<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Strict { inner: serializer, refused: self.refused, at: self.at })
    }
}

/// An array or object that is being written.
pub struct Inside<'r, C> {
    inner: C,
    refused: &'r Refused,
    at: At,
    /// The variant of an enum that this is the content of.
    variant: Option<&'static str>,
    /// How many items there are before the next.
    index: usize,
}

impl<'r, C> Inside<'r, C> {
    pub(super) fn new(inner: C, refused: &'r Refused, depth: u8, variant: Option<&'static str>) -> Self {
        Self { inner, refused, at: At::inside(depth), variant, index: 0 }
    }

    fn item<T: ?Sized, E>(
        &mut self,
        value: &T,
        write: impl FnOnce(&mut C, &Nested<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let written = write(&mut self.inner, &Nested { value, refused: self.refused, at: self.at });
        if written.is_err() {
            self.refused.came_through_index(self.index);
            self.came_through_variant();
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
        let written = write(&mut self.inner, &Nested { value, refused: self.refused, at: self.at });
        if written.is_err() {
            self.refused.came_through_key(key);
            self.came_through_variant();
        }
        written
    }

    fn came_through_variant(&self) {
        if let Some(variant) = self.variant {
            self.refused.came_through_key(variant);
        }
    }
}

macro_rules! items {
    ($($of:ident $method:ident;)*) => {$(
        impl<C: $of> $of for Inside<'_, C> {
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
        impl<C: $of> $of for Inside<'_, C> {
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

impl<C: SerializeMap> SerializeMap for Inside<'_, C> {
    type Ok = C::Ok;
    type Error = C::Error;

    fn serialize_key<K: Serialize + ?Sized>(&mut self, key: &K) -> Result<(), C::Error> {
        self.inner.serialize_key(&Key { key, refused: self.refused })
    }

    // Without the key at hand, the way to what is refused lacks it.
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.inner.serialize_value(&Nested { value, refused: self.refused, at: self.at })
    }

    #[inline]
    fn serialize_entry<K: Serialize + ?Sized, T: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &T,
    ) -> Result<(), C::Error> {
        self.inner.serialize_key(&Key { key, refused: self.refused })?;
        let value = Nested { value, refused: self.refused, at: self.at };
        self.inner.serialize_value(&value).inspect_err(|_| match serde_json::to_value(key) {
            Ok(Value::String(key)) => self.refused.came_through_key(key),
            Ok(key) => self.refused.came_through_key(key.to_string()),
            Err(_) => {}
        })
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}
