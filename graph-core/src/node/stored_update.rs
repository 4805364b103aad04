//! The stored form of the update in a parent command, until the parent graph applies it.

use std::any::Any;
use std::sync::Arc;

use crate::checkpoint::{ChangeKind, CheckpointId};
use crate::checkpoint::{StoredChange, StoredField};
use crate::engine::prepare;
use crate::payload::Payload;
use crate::reducers::Stamp;
use crate::state::{
    Decoded, EncodeError, FieldWrite as _, Form, GraphState, MigrationError, Stored, Update as _, Writes,
    decode_write,
};

use super::NodeError;

/// An update of any state.
pub(crate) type AnyUpdate = Arc<dyn Any + Send + Sync>;

/// A stored write: its form, its field and its value.
pub(crate) type StoredWrite = (Form, String, Payload);

/// A stored update, with the versions of its state.
#[derive(Debug, Default)]
pub(crate) struct StoredUpdate {
    pub(crate) versions: Vec<(String, u32)>,
    pub(crate) writes: Vec<StoredWrite>,
}

/// The reason why a stored update cannot be read.
#[derive(Debug)]
pub(crate) enum UnreadableUpdate {
    Migration(MigrationError),
    Write { field: String, reason: String },
}

/// Returns the versions of a state and of its flattened states that are not 0.
fn versions<P: GraphState>() -> Vec<(String, u32)> {
    let mut versions = Vec::new();
    P::__versions(&mut versions);
    versions.into_iter().map(|(state, version)| (state.to_owned(), version)).collect()
}

/// Runs the reducers' first phase in the subgraph, where the command is made.
pub(super) fn prepared<P: GraphState>(update: &AnyUpdate, stamp: Stamp<'_>) -> Result<AnyUpdate, NodeError> {
    let Some(update) = update.downcast_ref::<P::Update>() else { return Ok(Arc::clone(update)) };
    Ok(Arc::new(P::Update::__from_writes(prepare::<P>(update.clone(), stamp)?)))
}

pub(super) fn encode<P: GraphState>(update: &AnyUpdate) -> Result<StoredUpdate, EncodeError> {
    let Some(update) = update.downcast_ref::<P::Update>() else { return Ok(StoredUpdate::default()) };
    let mut all = Vec::new();
    for write in update.__writes().iter() {
        let (mut bytes, spec) = (Vec::new(), P::field(write.field()));
        if let (Some((form, encoding)), Some(spec)) = (write.__encode(&mut bytes)?, spec) {
            if form == Form::Update {
                return Err(EncodeError::not_prepared());
            }
            all.push((form, spec.name.to_owned(), Payload::new(encoding, bytes.as_slice())));
        }
    }
    Ok(StoredUpdate { versions: versions::<P>(), writes: all })
}

pub(super) fn decode<P: GraphState>(stored: StoredUpdate) -> Result<AnyUpdate, UnreadableUpdate> {
    let mut all = Writes::default();
    for write in stored.writes {
        for (form, field, payload) in migrated::<P>(&stored.versions, write)? {
            match decode_write::<P>(&field, form, &payload) {
                Decoded::Write(write) => all.push(write),
                Decoded::Unknown => {}
                Decoded::Invalid(error) => {
                    return Err(UnreadableUpdate::Write { field, reason: error.to_string() });
                }
            }
        }
    }
    Ok(Arc::new(P::Update::__from_writes(all)))
}

/// Migrates a write to the program's version. The migration sees a state with only this field.
fn migrated<P: GraphState>(
    found: &[(String, u32)],
    write: StoredWrite,
) -> Result<Vec<StoredWrite>, UnreadableUpdate> {
    if found == versions::<P>() {
        return Ok(vec![write]);
    }
    let (form, field, payload) = write;
    let kind = match form {
        Form::Delta => ChangeKind::Delta,
        Form::Overwrite => ChangeKind::Value,
        // `encode` refuses this form.
        Form::Update => return Ok(vec![(form, field, payload)]),
    };
    // It is of no checkpoint, and the id is not used.
    let change = StoredChange::new(CheckpointId::after(None), kind, payload);
    let mut stored = Stored::__of_writes(vec![StoredField::new(field, vec![change])]);
    P::__migrate(found, &mut stored).map_err(UnreadableUpdate::Migration)?;
    let form = |kind| if kind == ChangeKind::Delta { Form::Delta } else { Form::Overwrite };
    let fields = stored.__into_fields().into_iter();
    let changes = fields.flat_map(|StoredField { field, changes, .. }| {
        changes.into_iter().map(move |change| (form(change.kind), field.clone(), change.payload))
    });
    Ok(changes.collect())
}
