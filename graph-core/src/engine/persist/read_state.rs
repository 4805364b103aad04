use std::collections::HashMap;
use std::sync::Arc;

use crate::checkpoint::{Checkpoint, StoredField};
use crate::error::ErrorKind;
use crate::state::{GraphState, Restore, Stored, have_large_number, overflow_in};

use super::corrupt::corrupt;
use super::pieces::Pieces;
use super::program::{Program, versions};
use super::sizes::Size;

/// A state that was read from a checkpoint, and its stored sizes.
pub(super) struct ReadState<S> {
    pub(super) state: S,
    pub(super) pieces: Pieces,
}

/// Reads the state of a checkpoint, and migrates it to this program's version first.
pub(super) fn read_state<S: GraphState>(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    fields: Vec<StoredField>,
) -> Result<ReadState<S>, ErrorKind> {
    let sizes: HashMap<String, usize> = fields
        .iter()
        .map(|field| (field.field.clone(), field.changes.iter().map(|piece| piece.payload.len()).sum()))
        .collect();
    let (fields, migrated) = migrate::<S>(
        thread,
        checkpoint,
        &Program::parse(&checkpoint.run.program).versions,
        Stored::__of_state(fields),
    )?;
    let large = have_large_number(&fields);
    let mut restore = Restore::new(fields);
    let unreadable =
        |field: &str, reason: String| corrupt(thread, checkpoint, format!("field `{field}`"), reason);
    let state = S::__restore(&mut restore)
        .map_err(|error| unreadable(error.field(), crate::error::with_causes(&error)))?;
    if large && let Some((field, reason)) = overflow_in(&state) {
        return Err(unreadable(field, reason));
    }
    let size = |index: usize| {
        let bytes = S::field(index).and_then(|spec| sizes.get(spec.name)).copied();
        Size::read(bytes.unwrap_or_default())
    };
    let unstored = if migrated { (0..S::FIELD_COUNT).collect() } else { restore.defaulted().to_vec() };
    Ok(ReadState { state, pieces: Pieces::new((0..S::FIELD_COUNT).map(size).collect(), unstored) })
}

/// Migrates stored fields to this program's version. Returns `true` if they had another version.
pub(super) fn migrate<S: GraphState>(
    thread: &Arc<str>,
    checkpoint: &Checkpoint,
    found: &[(String, u32)],
    mut stored: Stored,
) -> Result<(Vec<StoredField>, bool), ErrorKind> {
    if found == versions::<S>() {
        return Ok((stored.__into_fields(), false));
    }
    S::__migrate(found, &mut stored).map_err(|error| ErrorKind::Migration {
        thread: thread.to_string(),
        checkpoint: checkpoint.id,
        source: error,
    })?;
    Ok((stored.__into_fields(), true))
}
