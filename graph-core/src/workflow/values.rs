//! The values in a workflow's state. They are shared, so that forks and snapshots copy none of them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::IntoDeserializer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::erased::{Packet, Payload};

/// The input of a run, stored as a packet for the function.
pub struct Given<I> {
    packet: Packet,
    input: PhantomData<fn() -> I>,
}

impl<I: Payload> Given<I> {
    pub(super) fn new(input: I) -> Self {
        Self { packet: Packet::new(input), input: PhantomData }
    }

    pub(super) fn packet(&self) -> &Packet {
        &self.packet
    }

    /// Always `Some`: the packet was made of an `I`.
    pub(super) fn get(&self) -> Option<&I> {
        self.packet.get()
    }
}

impl<I> Clone for Given<I> {
    fn clone(&self) -> Self {
        Self { packet: self.packet.clone(), input: PhantomData }
    }
}

impl<I: Payload> Serialize for Given<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.get() {
            Some(input) => input.serialize(serializer),
            None => serializer.serialize_unit(),
        }
    }
}

impl<'de, I: Payload> Deserialize<'de> for Given<I> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        I::deserialize(deserializer).map(Self::new)
    }
}

impl<I> fmt::Debug for Given<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Given(..)")
    }
}

/// A value of a finished run, if there is one. In JSON it is the value itself or null. Since null is also a value of
/// some types, a separate field stores whether there is a value.
pub struct Left<T>(Option<Arc<T>>);

impl<T> Left<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Some(Arc::new(value)))
    }

    pub(super) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    pub(super) fn into_shared(self) -> Option<Arc<T>> {
        self.0
    }
}

impl<T> Default for Left<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Clone for Left<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Payload> Serialize for Left<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_unit(),
        }
    }
}

impl<'de, T: Payload> Deserialize<'de> for Left<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A null becomes the `T` that null is a value of, if there is one. Callers first check the separate field that
        // tells whether there is a value.
        Ok(match Option::<T>::deserialize(deserializer)? {
            Some(value) => Self::new(value),
            None => Self(
                T::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(()))
                    .ok()
                    .map(Arc::new),
            ),
        })
    }
}

impl<T> fmt::Debug for Left<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Left(..)")
    }
}
