//! The serializers of arrays and objects.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Value;

use super::key::Key;
use super::refused::Refused;
use super::{At, Strict};

/// A value that any serializer writes through [`Strict`].
pub(super) struct StrictValue<'r, T: ?Sized> {
    pub(super) value: &'r T,
    pub(super) refused: &'r Refused,
    pub(super) at: At,
}

impl<T: Serialize + ?Sized> Serialize for StrictValue<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(Strict { inner: serializer, refused: self.refused, at: self.at })
    }
}

/// An array or object that is being written.
pub struct Inside<'r, C> {
    inner: C,
    refused: &'r Refused,
    at: At,
    /// The enum variant whose content this is.
    variant: Option<&'static str>,
    /// The index of the next item.
    index: usize,
}

impl<'r, C> Inside<'r, C> {
    pub(super) fn new(inner: C, refused: &'r Refused, depth: u8, variant: Option<&'static str>) -> Self {
        Self { inner, refused, at: At::inside(depth), variant, index: 0 }
    }

    fn item<T: ?Sized, E>(
        &mut self,
        value: &T,
        write: impl FnOnce(&mut C, &StrictValue<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let written = write(&mut self.inner, &StrictValue { value, refused: self.refused, at: self.at });
        if written.is_err() {
            self.refused.push_path_index(self.index);
            self.push_path_variant();
        }
        self.index += 1;
        written
    }

    fn field<T: ?Sized, E>(
        &mut self,
        key: &'static str,
        value: &T,
        write: impl FnOnce(&mut C, &StrictValue<'_, T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let written = write(&mut self.inner, &StrictValue { value, refused: self.refused, at: self.at });
        if written.is_err() {
            self.refused.push_path_key(key);
            self.push_path_variant();
        }
        written
    }

    fn push_path_variant(&self) {
        if let Some(variant) = self.variant {
            self.refused.push_path_key(variant);
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

    // The key is not known here, so the path to a refused value lacks it.
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), C::Error> {
        self.inner.serialize_value(&StrictValue { value, refused: self.refused, at: self.at })
    }

    #[inline]
    fn serialize_entry<K: Serialize + ?Sized, T: Serialize + ?Sized>(
        &mut self,
        key: &K,
        value: &T,
    ) -> Result<(), C::Error> {
        self.inner.serialize_key(&Key { key, refused: self.refused })?;
        let value = StrictValue { value, refused: self.refused, at: self.at };
        self.inner.serialize_value(&value).inspect_err(|_| match serde_json::to_value(key) {
            Ok(Value::String(key)) => self.refused.push_path_key(key),
            Ok(key) => self.refused.push_path_key(key.to_string()),
            Err(_) => {}
        })
    }

    fn end(self) -> Result<C::Ok, C::Error> {
        self.inner.end()
    }
}
