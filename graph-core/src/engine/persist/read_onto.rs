//! The state of a subgraph run on the parent state. Only the run's writes are stored.

use crate::checkpoint::{ChangeKind, RecordKey, RecordKind, StoredField, TaskRecord};
use crate::engine::child::CallWrites;
use crate::engine::task::WriteOf;
use crate::error::{ErrorKind, with_causes};
use crate::payload::Payload;
use crate::state::{Decoded, FieldWrite as _, Form, GraphState, WriteKind, Writes};

use super::corrupt::{corrupt, unplanned_kind};
use super::pieces::Pieces;
use super::progress;
use super::read_records::Reader;
use super::read_state::ReadState;
use super::records::key;
use super::resets::{StoredResets, field_named};

/// The writes since the run began.
pub(super) type Since<S> = Writes<WriteOf<S>>;

impl<S: GraphState, D> Reader<'_, S, D> {
    /// Applies the run's stored writes to the state with which it began.
    pub(super) fn onto(
        &self,
        base: &S,
        fields: &[StoredField],
    ) -> Result<(ReadState<S>, Since<S>), ErrorKind> {
        let progress = progress::parse(self.checkpoint.progress.as_ref())
            .map_err(|unplanned| unplanned_kind(self.thread, self.checkpoint, unplanned))?;
        let stored = progress.resets.unwrap_or_else(|| StoredResets::of_older(overwritten::<S>(fields)));
        let (mut records, mut state) = (Vec::new(), base.__duplicate());
        for field in fields {
            let whole = field.changes.iter().rposition(|piece| piece.kind == ChangeKind::Value);
            for (at, piece) in field.changes.iter().enumerate().skip(whole.unwrap_or_default()) {
                let form = match &field.field {
                    name if Some(at) == whole && stored.is_cleared(name) => {
                        field_named::<S>(name).map(|field| state.clear_ephemeral(field));
                        continue;
                    }
                    name if Some(at) == whole && stored.is_overwritten(name) => 'v',
                    _ => 'd',
                };
                let name = format!("{:04}{form}:{}", records.len(), field.field);
                let at = key(RecordKey::NO_TASK, RecordKind::Write, &name);
                records.push(TaskRecord::new(at, piece.payload.clone()));
            }
        }
        let (writes, _) = self.writes(records.iter(), None)?;
        for write in writes.iter() {
            let field = S::field(write.field()).map_or("?", |spec| spec.name);
            write.clone().apply(&mut state).map_err(|error| {
                corrupt(self.thread, self.checkpoint, format!("field `{field}`"), with_causes(&error))
            })?;
        }
        Ok((ReadState { state, pieces: Pieces::within::<S>(stored.read::<S>()) }, writes))
    }
}

/// Returns the fields with an overwrite in a checkpoint of an older version, which does not name them. A value that was
/// written to a field without a reducer is an ordinary write.
fn overwritten<S: GraphState>(fields: &[StoredField]) -> Vec<String> {
    let is_write = |field: &str, value: &Payload| match WriteOf::<S>::__decode(field, Form::Delta, value) {
        Decoded::Write(write) => write.kind() == WriteKind::Exclusive,
        Decoded::Unknown | Decoded::Invalid(_) => false,
    };
    let fields = fields.iter().filter(|field| {
        let whole = field.changes.iter().rfind(|piece| piece.kind == ChangeKind::Value);
        whole.is_some_and(|whole| !is_write(&field.field, &whole.payload))
    });
    fields.map(|field| field.field.clone()).collect()
}

/// Returns the writes that the run passes to the parent state when it ends. Cleared ephemeral fields are excluded.
pub(super) fn returned<S: GraphState>(since: Since<S>, alive: &[usize]) -> CallWrites<S> {
    let mut returned = CallWrites::default();
    let lives = |field: usize| !S::field(field).is_some_and(|spec| spec.ephemeral) || alive.contains(&field);
    since.into_iter().filter(|write| lives(write.field())).for_each(|write| returned.push(write));
    returned
}
