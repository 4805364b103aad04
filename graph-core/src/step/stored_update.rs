//! The stored form of the update in a parent command, until the parent graph applies it.

use crate::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use crate::erased::{StateType, TaskWrites};
use crate::payload::Payload;
use crate::state::{Decoded, EncodeError, Form, MigrationError, Stored};

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

/// Encodes a prepared update.
pub(crate) fn encode(state: &'static StateType, update: &TaskWrites) -> Result<StoredUpdate, EncodeError> {
    let mut all = Vec::new();
    let targets =
        update.as_erased().into_iter().flat_map(|writes| update.fields().map(move |field| (writes, field)));
    for (nth, (writes, field)) in targets.enumerate() {
        let mut bytes = Vec::new();
        if let (Some((form, encoding)), Some(spec)) = (writes.encode(nth, &mut bytes)?, state.field(field)) {
            if form == Form::Update {
                return Err(EncodeError::not_prepared());
            }
            all.push((form, spec.name.to_owned(), Payload::new(encoding, bytes.as_slice())));
        }
    }
    Ok(StoredUpdate { versions: state.versions(), writes: all })
}

/// Decodes an update, and migrates it to the program's version.
pub(crate) fn decode(
    state: &'static StateType,
    stored: StoredUpdate,
) -> Result<TaskWrites, UnreadableUpdate> {
    let mut all = TaskWrites::default();
    for write in stored.writes {
        for (form, field, payload) in migrated(state, &stored.versions, write)? {
            match (state.decode)(&field, form, &payload, all.of_type(state)) {
                Decoded::Write(_) | Decoded::Unknown => {}
                Decoded::Invalid(error) => {
                    return Err(UnreadableUpdate::Write { field, reason: error.to_string() });
                }
            }
        }
    }
    Ok(all)
}

/// Migrates a write to the program's version. The migration sees a state with only this field.
fn migrated(
    state: &'static StateType,
    found: &[(String, u32)],
    write: StoredWrite,
) -> Result<Vec<StoredWrite>, UnreadableUpdate> {
    if found == state.versions() {
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
    (state.migrate)(found, &mut stored).map_err(UnreadableUpdate::Migration)?;
    let form = |kind| if kind == ChangeKind::Delta { Form::Delta } else { Form::Overwrite };
    let fields = stored.__into_fields().into_iter();
    let changes = fields.flat_map(|StoredField { field, changes, .. }| {
        changes.into_iter().map(move |change| (form(change.kind), field.clone(), change.payload))
    });
    Ok(changes.collect())
}
