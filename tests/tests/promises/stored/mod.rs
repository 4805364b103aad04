//! What a checkpoint holds of a state comes back as what it was, or is refused when it is stored.

use superstep::GraphState;
use superstep::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use superstep::payload::{Encoding, Payload};
use superstep::reducers::Stamp;
use superstep::state::{Decoded, EncodeError, FieldWrite, Form, Restore, RestoreError, Update};

mod codecs;
mod deltas;
mod fields;
mod inputs;
mod names;
mod properties;
mod replay;
mod strict;
mod versions;
mod writes;

type WriteOf<S> = <<S as GraphState>::Update as Update<S>>::Write;

/// The field at `index` as a store would be given it.
fn encoded<S: GraphState>(state: &S, index: usize) -> Result<Option<Payload>, EncodeError> {
    let mut bytes = Vec::new();
    Ok(state.__encode_field(index, &mut bytes)?.map(|encoding| Payload::new(encoding, bytes)))
}

/// Every field that is stored, whole.
fn whole<S: GraphState>(state: &S) -> Vec<StoredField> {
    let stored = |index| {
        let payload = encoded(state, index).unwrap()?;
        Some(of(S::field(index)?.name, [(1, ChangeKind::Value, payload)]))
    };
    (0..S::FIELD_COUNT).filter_map(stored).collect()
}

/// What is stored of one field: the number of a checkpoint, the kind, the value or delta.
fn of<P>(name: &str, pieces: P) -> StoredField
where
    P: IntoIterator<Item = (u8, ChangeKind, Payload)>,
{
    let pieces = pieces.into_iter().map(|(number, kind, payload)| StoredChange {
        checkpoint: checkpoint(number),
        kind,
        payload,
    });
    StoredField { field: name.to_owned(), changes: pieces.collect() }
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

/// The writes of an update, prepared.
fn prepared<S: GraphState>(update: S::Update) -> impl Iterator<Item = WriteOf<S>> {
    let stamp = Stamp::new("node", 3, 0);
    update.__into_writes().into_iter().map(move |write| write.prepare(&stamp).unwrap())
}

/// A prepared write as a store would be given it.
fn stored<S: GraphState>(write: &WriteOf<S>) -> Result<Option<(Form, Payload)>, EncodeError> {
    let mut bytes = Vec::new();
    let stored = write.__encode(&mut bytes)?;
    Ok(stored.map(|(form, encoding)| (form, Payload::new(encoding, bytes))))
}

/// The update that comes back from a store.
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
