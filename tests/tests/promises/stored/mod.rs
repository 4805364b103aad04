//! Stored states: every value round-trips through a checkpoint, or the write is refused.

use superstep::GraphState;
use superstep::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use superstep::payload::{Encoding, Payload};
use superstep::reducers::Stamp;
use superstep::state::{Decoded, EncodeError, FieldWrite, Form, Restore, RestoreError, Update};

mod deltas;
mod field_aliases;
mod field_functions;
mod fields;
mod inputs;
mod migrations;
mod refused_values;
mod replay;
mod round_trips;
mod writes;

type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// The encoded field at `index`.
fn encoded<S: GraphState>(state: &S, index: usize) -> Result<Option<Payload>, EncodeError> {
    let mut bytes = Vec::new();
    Ok(state.__encode_field(index, &mut bytes)?.map(|encoding| Payload::new(encoding, bytes)))
}

/// The full value of every stored field.
fn all_fields<S: GraphState>(state: &S) -> Vec<StoredField> {
    let stored = |index| {
        let payload = encoded(state, index).unwrap()?;
        Some(field(S::field(index)?.name, [(1, ChangeKind::Value, payload)]))
    };
    (0..S::FIELD_COUNT).filter_map(stored).collect()
}

/// A stored field from changes of (checkpoint number, kind, payload).
fn field<P>(name: &str, changes: P) -> StoredField
where
    P: IntoIterator<Item = (u8, ChangeKind, Payload)>,
{
    let changes = changes
        .into_iter()
        .map(|(number, kind, payload)| StoredChange::new(checkpoint(number), kind, payload));
    StoredField::new(name.to_owned(), changes.collect())
}

fn checkpoint(number: u8) -> CheckpointId {
    CheckpointId::from_bytes([number; 16])
}

fn value(number: u8, json: &str) -> (u8, ChangeKind, Payload) {
    (number, ChangeKind::Value, Payload::json(json))
}

fn delta(number: u8, json: &str) -> (u8, ChangeKind, Payload) {
    (number, ChangeKind::Delta, Payload::json(json))
}

fn restored<S: GraphState>(fields: Vec<StoredField>) -> Result<S, RestoreError> {
    S::__restore(&mut Restore::new(fields))
}

/// The prepared writes of an update.
fn prepared<S: GraphState>(update: S::Update) -> impl Iterator<Item = WriteOf<S>> {
    let stamp = Stamp::new("node", 3, 0);
    update.__into_writes().into_iter().map(move |write| write.prepare(&stamp).unwrap())
}

/// The encoded form of a prepared write.
fn stored<S: GraphState>(write: &WriteOf<S>) -> Result<Option<(Form, Payload)>, EncodeError> {
    let mut bytes = Vec::new();
    let stored = write.__encode(&mut bytes)?;
    Ok(stored.map(|(form, encoding)| (form, Payload::new(encoding, bytes))))
}

/// The update after a round trip through storage.
fn read_back<S: GraphState>(update: S::Update) -> S::Update {
    let read = |write: WriteOf<S>| {
        let (form, payload) = stored::<S>(&write).unwrap()?;
        match WriteOf::<S>::__decode(S::field(write.field())?.name, form, &payload) {
            Decoded::Write(write) => Some(write),
            Decoded::Unknown => panic!("unknown"),
            Decoded::Invalid(error) => panic!("{error}"),
        }
    };
    S::Update::__from_writes(prepared::<S>(update).filter_map(read).collect())
}

fn json(payload: &Payload) -> &str {
    assert_eq!(payload.encoding(), Encoding::Json);
    std::str::from_utf8(payload.bytes()).unwrap()
}
