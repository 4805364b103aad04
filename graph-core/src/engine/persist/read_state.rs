use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{Checkpoint, StoredField};
use crate::engine::erased::{ErasedState, StateType};
use crate::error::ErrorKind;
use crate::state::{Restore, Stored, have_large_number, overflow_in};

use super::corrupt::corrupt;
use super::pieces::Pieces;
use super::program::Program;
use super::sizes::Size;

/// A state that was read from a checkpoint, and its stored sizes.
pub(super) struct ReadState {
    pub(super) state: Arc<dyn ErasedState>,
    pub(super) pieces: Pieces,
}

/// Reads the state of a checkpoint, and migrates it to this program's version first.
pub(super) fn read_state(
    state: &'static StateType,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    fields: Vec<StoredField>,
) -> Result<ReadState, ErrorKind> {
    let sizes: HashMap<String, usize> = fields
        .iter()
        .map(|field| (field.field.clone(), field.changes.iter().map(|piece| piece.payload.len()).sum()))
        .collect();
    let (fields, migrated) = migrate(
        state,
        thread,
        checkpoint,
        &Program::parse(&checkpoint.run.program).versions,
        Stored::__of_state(fields),
    )?;
    let large = have_large_number(&fields);
    let mut restore = Restore::new(fields);
    let unreadable =
        |field: &str, reason: String| corrupt(thread, checkpoint, format!("field `{field}`"), reason);
    let restored = (state.restore)(&mut restore)
        .map_err(|error| unreadable(error.field(), crate::error::with_causes(&error)))?;
    if large && let Some((field, reason)) = overflow_in(&*restored) {
        return Err(unreadable(field, reason));
    }
    let size = |index: usize| {
        let bytes = state.field(index).and_then(|spec| sizes.get(spec.name)).copied();
        Size::read(bytes.unwrap_or_default())
    };
    let unstored = if migrated { (0..state.fields).collect() } else { restore.defaulted().to_vec() };
    Ok(ReadState { state: restored, pieces: Pieces::new((0..state.fields).map(size).collect(), unstored) })
}

/// Migrates stored fields to this program's version. Returns `true` if they had another version.
pub(super) fn migrate(
    state: &'static StateType,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    found: &[(String, u32)],
    mut stored: Stored,
) -> Result<(Vec<StoredField>, bool), ErrorKind> {
    if found == state.versions() {
        return Ok((stored.__into_fields(), false));
    }
    (state.migrate)(found, &mut stored).map_err(|error| ErrorKind::Migration {
        thread: thread.to_string(),
        checkpoint: checkpoint.id,
        source: error,
    })?;
    Ok((stored.__into_fields(), true))
}
