use std::any::Any;

use serde::ser::SerializeMap;
use serde_json::Value;

use crate::payload::{Encoding, Payload};
use crate::reducers::{ReduceError, Stamp};

use super::{Decoded, EncodeError, FieldWrite, Form, JsonOf, Parsed, WriteKind};

/// The write type of a state whose derive reported mistakes. It has no value, and such a program does not compile.
#[derive(Clone, Debug)]
pub enum FallbackWrite {}

impl<S> FieldWrite<S> for FallbackWrite {
    type Undo = Self;

    fn field(&self) -> usize {
        match *self {}
    }

    fn kind(&self) -> WriteKind {
        match *self {}
    }

    fn prepare(self, _: &Stamp<'_>) -> Result<Self, ReduceError> {
        match self {}
    }

    fn apply(self, _: &mut S) -> Result<Self, ReduceError> {
        match self {}
    }

    fn undo(undo: Self, _: &mut S) {
        match undo {}
    }

    fn __is_dumped(&self) -> bool {
        match *self {}
    }

    fn __dump<M: SerializeMap>(&self, _: &mut M) -> Result<(), M::Error> {
        match *self {}
    }

    fn __parse(_: &str, value: Value, _: JsonOf) -> Parsed<Self> {
        Parsed::Unknown(value)
    }

    fn __encode(&self, _: &mut Vec<u8>) -> Result<Option<(Form, Encoding)>, EncodeError> {
        match *self {}
    }

    fn __decode(_: &str, _: Form, _: &Payload) -> Decoded<Self> {
        Decoded::Unknown
    }

    fn __value(&self) -> &dyn Any {
        match *self {}
    }
}
