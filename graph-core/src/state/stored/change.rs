//! Single writes, as results of finished tasks are stored.

use serde::Serialize;
use serde::de::{Deserialize as _, DeserializeOwned};

use crate::payload::{Encoding, Payload};
use crate::reducers::Reducer;

use super::super::Change;
use super::encode::{encode_value, encode_value_with};
use super::error::{Why, guarded, read};
use super::{DecodeError, EncodeError, FieldPlace};
use crate::payload::{PayloadDeserializer, PayloadSerializer};

/// What a stored write is to its field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// What the reducer folds.
    Delta,
    /// The field's new value, past the reducer.
    Overwrite,
    /// What a node handed in: the reducer has not prepared it. A cache keeps it so, a checkpoint never does.
    Update,
}

/// What came of reading a stored write.
#[derive(Debug)]
pub enum Decoded<W> {
    /// The write.
    Write(W),
    /// No field that is stored has this name.
    Unknown,
    /// The field is there, the write is not readable.
    Invalid(DecodeError),
}

impl<W> Decoded<W> {
    /// Lifts a flattened state's write into that of its owner.
    pub fn map<V>(self, lift: impl FnOnce(W) -> V) -> Decoded<V> {
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

/// Writes a write as it is, and says in which form.
pub fn encode_change<R, T>(place: &FieldPlace, change: &Change<R, T>, into: &mut Vec<u8>) -> Encoded
where
    R: Reducer<T, Update: Serialize, Delta: Serialize>,
    T: Clone + Serialize,
{
    encoded(place, change, into, encode_value, encode_value, encode_value)
}

/// The same through the field's own `with` or `serialize_with` function, for reducers that fold the field's type.
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
    let through = |place: &FieldPlace, value: &T, into: &mut Vec<u8>| {
        encode_value_with(place, into, |to| write(value, to))
    };
    encoded(place, change, into, through, through, through)
}

/// Writes an overwrite through the field's own function, and what is of another type as it is.
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
    let through = |place: &FieldPlace, value: &T, into: &mut Vec<u8>| {
        encode_value_with(place, into, |to| write(value, to))
    };
    encoded(place, change, into, encode_value, encode_value, through)
}

fn encoded<R: Reducer<T>, T: Clone>(
    place: &FieldPlace,
    change: &Change<R, T>,
    into: &mut Vec<u8>,
    update: impl FnOnce(&FieldPlace, &R::Update, &mut Vec<u8>) -> Result<Encoding, EncodeError>,
    delta: impl FnOnce(&FieldPlace, &R::Delta, &mut Vec<u8>) -> Result<Encoding, EncodeError>,
    value: impl FnOnce(&FieldPlace, &T, &mut Vec<u8>) -> Result<Encoding, EncodeError>,
) -> Encoded {
    match change {
        Change::Delta(written) => delta(place, written, into).map(|encoding| Some((Form::Delta, encoding))),
        Change::Overwrite(written) => {
            value(place, written, into).map(|encoding| Some((Form::Overwrite, encoding)))
        }
        Change::Update(written) => {
            update(place, written, into).map(|encoding| Some((Form::Update, encoding)))
        }
    }
}

/// Reads a write.
pub fn decode_change<R, T>(place: &FieldPlace, form: Form, payload: &Payload) -> Decoded<Change<R, T>>
where
    R: Reducer<T, Update: DeserializeOwned, Delta: DeserializeOwned>,
    T: Clone + DeserializeOwned,
{
    Decoded::of(place, || match form {
        Form::Update => read(payload, |from| R::Update::deserialize(from)).map(Change::Update),
        Form::Delta => read(payload, |from| R::Delta::deserialize(from)).map(Change::Delta),
        Form::Overwrite => read(payload, |from| T::deserialize(from)).map(Change::Overwrite),
    })
}

/// The same through the field's own `with` or `deserialize_with` function, for reducers that fold the field's type.
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

/// Reads an overwrite through the field's own function, and what is of another type as it is.
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
        Form::Update => read(payload, |from| R::Update::deserialize(from)).map(Change::Update),
        Form::Delta => read(payload, |from| R::Delta::deserialize(from)).map(Change::Delta),
        Form::Overwrite => read(payload, through).map(Change::Overwrite),
    })
}
