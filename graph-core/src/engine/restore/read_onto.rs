//! The state of a subgraph run on the parent state. Only the run's writes are stored.

use crate::checkpoint::{ChangeKind, RecordKey, RecordKind, StoredField, TaskRecord};
use crate::engine::apply::{CallWrites, own};
use crate::engine::stored::{FieldChanges, StoredResets, corrupt, key, ordinal, progress};
use crate::erased::{ErasedState, StateType, TaskWrites};
use crate::error::{ErrorKind, with_causes};
use crate::payload::Payload;
use crate::state::{Decoded, Form, WriteKind};

use super::read_records::RecordReader;
use super::restored_state::RestoredState;

impl RecordReader<'_> {
    /// Applies the run's stored writes to the state with which it began. Returns the state and these writes.
    pub(crate) fn onto(
        &self,
        base: &dyn ErasedState,
        fields: &[StoredField],
    ) -> Result<(RestoredState, TaskWrites), ErrorKind> {
        let progress = progress::read(self.thread, self.checkpoint)?;
        let stored =
            progress.resets.unwrap_or_else(|| StoredResets::of_older(overwritten(self.graph.state, fields)));
        let (mut records, mut state) = (Vec::new(), base.copied());
        let mut undos = (self.graph.state.undos)();
        for field in fields {
            let whole = field.changes.iter().rposition(|change| change.kind == ChangeKind::Value);
            for (at, change) in field.changes.iter().enumerate().skip(whole.unwrap_or_default()) {
                let form = match &field.field {
                    name if Some(at) == whole && stored.is_cleared(name) => {
                        if let (Some(field), Some(state)) =
                            (self.graph.state.field_named(name), own(&mut state))
                        {
                            state.clear_field(field, &mut *undos);
                        }
                        continue;
                    }
                    name if Some(at) == whole && stored.is_overwritten(name) => 'v',
                    _ => 'd',
                };
                let name = format!("{}{form}:{}", ordinal(records.len()), field.field);
                let at = key(RecordKey::NO_TASK, RecordKind::Write, &name);
                records.push(TaskRecord::new(at, change.payload.clone()));
            }
        }
        let (writes, _) = self.writes(records.iter(), None)?;
        if let (Some(mut copy), Some(state)) = (writes.clone().into_erased(), own(&mut state)) {
            copy.fold(state, &|_, _| true, &mut *undos).map_err(|(field, error)| {
                let field = format!("field `{}`", self.graph.state.field_name(field));
                corrupt(self.thread, self.checkpoint, field, with_causes(&error))
            })?;
        }
        Ok((
            RestoredState {
                state,
                changes: FieldChanges::on_parent_state(self.graph.state, stored.read(self.graph.state)),
            },
            writes,
        ))
    }
}

/// Returns the fields with an overwrite in a checkpoint of an older version, which does not name them. A value that was
/// written to a field without a reducer is an ordinary write.
fn overwritten(state: &'static StateType, fields: &[StoredField]) -> Vec<String> {
    let is_write = |field: &str, value: &Payload| {
        let mut write = TaskWrites::default();
        match (state.decode)(field, Form::Delta, value, write.of_type(state)) {
            Decoded::Write(_) => write.targets().all(|(_, kind)| kind == WriteKind::Exclusive),
            Decoded::Unknown | Decoded::Invalid(_) => false,
        }
    };
    let fields = fields.iter().filter(|field| {
        let whole = field.changes.iter().rfind(|change| change.kind == ChangeKind::Value);
        whole.is_some_and(|whole| !is_write(&field.field, &whole.payload))
    });
    fields.map(|field| field.field.clone()).collect()
}

/// Returns the writes that the run passes to the parent state when it ends. Cleared ephemeral fields are excluded.
pub(crate) fn returned(state: &'static StateType, written: &TaskWrites, alive: &[usize]) -> CallWrites {
    let mut returned = CallWrites::default();
    let lives =
        |field: usize| !state.field(field).is_some_and(|spec| spec.ephemeral) || alive.contains(&field);
    for (nth, _) in written.fields().enumerate().filter(|(_, field)| lives(*field)) {
        returned.push(state, written, nth);
    }
    returned
}
