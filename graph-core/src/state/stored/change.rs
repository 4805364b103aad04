//! The stored form of single writes, as part of the results of finished tasks.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::payload::{Encoding, Payload};
use crate::reducers::Reducer;

use super::super::Change;
use super::encode::{encode_value, encode_value_with};
use super::error::{Why, guarded, read, read_value};
use super::{DecodeError, EncodeError, FieldPlace};
use crate::payload::{PayloadDeserializer, PayloadSerializer};

/// The meaning of a stored write for its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A delta that the reducer folds.
    Delta,
    /// The field's new value, which bypasses the reducer.
    Overwrite,
    /// An update that the reducer has not prepared. A cache stores this form, a checkpoint never does.
    Update,
}

/// The result of reading a stored write.
#[derive(Debug)]
pub enum Decoded<W> {
    /// The write.
    Write(W),
    /// No stored field has this name.
    Unknown,
    /// The field exists, but the write cannot be read.
    Invalid(DecodeError),
}

impl<W> Decoded<W> {
    /// Converts the write of a flattened state into the write of its owner.
    // Not `impl Fn`, which would be compiled for each field.
    pub fn map<V>(self, lift: fn(W) -> V) -> Decoded<V> {
        match self {
            Self::Write(write) => Decoded::Write(lift(write)),
            Self::Unknown => Decoded::Unknown,
            Self::Invalid(error) => Decoded::Invalid(error),
        }
    }

    fn of(place: &FieldPlace, read: impl FnOnce() -> Result<W, Why>) -> Self {
        match guarded(read) {
            Ok(write) => Self::Write(write),
            Err(why) => Self::Invalid(DecodeError::new(place, why)),
        }
    }
}

type Encoded = Result<Option<(Form, Encoding)>, EncodeError>;

/// Encodes a write, and returns its form.
pub fn encode_change<R, T>(place: &FieldPlace, change: &Change<R, T>, into: &mut Vec<u8>) -> Encoded
where
    R: Reducer<T, Update: Serialize, Delta: Serialize>,
    T: Clone + Serialize,
{
    match change {
        Change::Delta(delta) => of_form(Form::Delta, encode_value(place, delta, into)),
        Change::Overwrite(value) => of_form(Form::Overwrite, encode_value(place, value, into)),
        Change::Update(update) => of_form(Form::Update, encode_value(place, update, into)),
    }
}

/// Like [`encode_change`], through the field's own function, for reducers that fold the field's type.
pub fn encode_change_with<R, T>(
    place: &FieldPlace,
    change: &Change<R, T>,
    into: &mut Vec<u8>,
    write: impl Fn(&T, PayloadSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Encoded
where
    R: Reducer<T, Update = T, Delta = T>,
    T: Clone,
{
    let (form, value) = match change {
        Change::Delta(delta) => (Form::Delta, delta),
        Change::Overwrite(value) => (Form::Overwrite, value),
        Change::Update(update) => (Form::Update, update),
    };
    of_form(form, encode_value_with(place, into, |to| write(value, to)))
}

/// Like [`encode_change`], with overwrites through the field's own function. Updates and deltas do not use it.
pub fn encode_overwrite_with<R, T>(
    place: &FieldPlace,
    change: &Change<R, T>,
    into: &mut Vec<u8>,
    write: impl Fn(&T, PayloadSerializer<'_, '_>) -> Result<(), serde_json::Error>,
) -> Encoded
where
    R: Reducer<T, Update: Serialize, Delta: Serialize>,
    T: Clone,
{
    match change {
        Change::Delta(delta) => of_form(Form::Delta, encode_value(place, delta, into)),
        Change::Overwrite(value) => {
            of_form(Form::Overwrite, encode_value_with(place, into, |to| write(value, to)))
        }
        Change::Update(update) => of_form(Form::Update, encode_value(place, update, into)),
    }
}

fn of_form(form: Form, encoding: Result<Encoding, EncodeError>) -> Encoded {
    encoding.map(|encoding| Some((form, encoding)))
}

/// Decodes a write.
pub fn decode_change<R, T>(place: &FieldPlace, form: Form, payload: &Payload) -> Decoded<Change<R, T>>
where
    R: Reducer<T, Update: DeserializeOwned, Delta: DeserializeOwned>,
    T: Clone + DeserializeOwned,
{
    Decoded::of(place, || match form {
        Form::Update => read_value(payload).map(Change::Update),
        Form::Delta => read_value(payload).map(Change::Delta),
        Form::Overwrite => read_value(payload).map(Change::Overwrite),
    })
}

/// Like [`decode_change`], through the field's own function, for reducers that fold the field's type.
pub fn decode_change_with<R, T>(
    place: &FieldPlace,
    form: Form,
    payload: &Payload,
    through: impl FnOnce(PayloadDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
) -> Decoded<Change<R, T>>
where
    R: Reducer<T, Update = T, Delta = T>,
    T: Clone,
{
    let wrap = match form {
        Form::Update => Change::Update,
        Form::Delta => Change::Delta,
        Form::Overwrite => Change::Overwrite,
    };
    Decoded::of(place, || read(payload, through).map(wrap))
}

/// Like [`decode_change`], with overwrites through the field's own function. Updates and deltas do not use it.
pub fn decode_overwrite_with<R, T>(
    place: &FieldPlace,
    form: Form,
    payload: &Payload,
    through: impl FnOnce(PayloadDeserializer<'_, '_>) -> Result<T, serde_json::Error>,
) -> Decoded<Change<R, T>>
where
    R: Reducer<T, Update: DeserializeOwned, Delta: DeserializeOwned>,
    T: Clone,
{
    Decoded::of(place, || match form {
        Form::Update => read_value(payload).map(Change::Update),
        Form::Delta => read_value(payload).map(Change::Delta),
        Form::Overwrite => read(payload, through).map(Change::Overwrite),
    })
}
