use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{Checkpoint, StoredField};
use crate::engine::stored::{FieldChanges, Program, StoredSize, corrupt};
use crate::erased::{ErasedState, StateType};
use crate::error::ErrorKind;
use crate::state::{Restore, Stored, have_large_number};

/// A state that was read from a checkpoint, and its stored sizes.
pub(crate) struct RestoredState {
    pub(crate) state: Arc<dyn ErasedState>,
    pub(crate) changes: FieldChanges,
}

/// Reads the state of a checkpoint, and migrates it to this program's version first.
pub(crate) fn read_state(
    state: &'static StateType,
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    fields: Vec<StoredField>,
) -> Result<RestoredState, ErrorKind> {
    let sizes: HashMap<String, usize> = fields
        .iter()
        .map(|field| (field.field.clone(), field.changes.iter().map(|change| change.payload.len()).sum()))
        .collect();
    let (fields, migrated) = migrate(
        state,
        thread,
        checkpoint,
        &Program::of_run(thread, checkpoint)?.versions,
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
        StoredSize::read(bytes.unwrap_or_default())
    };
    let unstored = if migrated { (0..state.fields).collect() } else { restore.defaulted().to_vec() };
    Ok(RestoredState {
        state: restored,
        changes: FieldChanges::new((0..state.fields).map(size).collect(), unstored),
    })
}

/// Migrates stored fields to this program's version. Returns `true` if they had another version.
pub(crate) fn migrate(
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

/// Returns the field of a restored state that holds infinity, because a stored number was too large for its type, and
/// the reason.
fn overflow_in(state: &dyn ErasedState) -> Option<(&'static str, String)> {
    (0..state.state_type().fields).find_map(|field| {
        let error = state.encode(field, &mut Vec::new()).err()?;
        Some((error.field(), error.into_overflow()?))
    })
}
