//! The state of a subgraph run on the parent state. Only the run's writes are stored.

use crate::checkpoint::{ChangeKind, RecordKey, RecordKind, StoredField, TaskRecord};
use crate::engine::child::CallWrites;
use crate::engine::task::WriteOf;
use crate::error::{ErrorKind, with_causes};
use crate::payload::Payload;
use crate::state::{Decoded, FieldWrite as _, Form, GraphState, WriteKind, Writes};

use super::corrupt::corrupt;
use super::pieces::Pieces;
use super::read_records::Reader;
use super::read_state::ReadState;
use super::records::key;

/// The writes since the run began.
pub(super) type Since<S> = Writes<WriteOf<S>>;

impl<S: GraphState, D> Reader<'_, S, D> {
    /// Applies the run's stored writes to the state with which it began.
    pub(super) fn onto(
        &self,
        base: &S,
        fields: &[StoredField],
    ) -> Result<(ReadState<S>, Since<S>), ErrorKind> {
        let mut records = Vec::new();
        for field in fields {
            for piece in &field.changes {
                let form = match piece.kind {
                    ChangeKind::Value if !replaces::<S>(&field.field, &piece.payload) => 'v',
                    ChangeKind::Value | ChangeKind::Delta => 'd',
                };
                let name = format!("{:04}{form}:{}", records.len(), field.field);
                let at = key(RecordKey::NO_TASK, RecordKind::Write, &name);
                records.push(TaskRecord::new(at, piece.payload.clone()));
            }
        }
        let (writes, _) = self.writes(records.iter(), None)?;
        let mut state = base.__duplicate();
        for write in writes.iter() {
            let field = S::field(write.field()).map_or("?", |spec| spec.name);
            write.clone().apply(&mut state).map_err(|error| {
                corrupt(self.thread, self.checkpoint, format!("field `{field}`"), with_causes(&error))
            })?;
        }
        Ok((ReadState { state, pieces: Pieces::within::<S>() }, writes))
    }
}

/// Returns `true` if a stored value was written to a field without a reducer. It is then written the same way again.
fn replaces<S: GraphState>(field: &str, value: &Payload) -> bool {
    match WriteOf::<S>::__decode(field, Form::Delta, value) {
        Decoded::Write(write) => write.kind() == WriteKind::Exclusive,
        Decoded::Unknown | Decoded::Invalid(_) => false,
    }
}

/// Returns the writes that the run passes to the parent state when it ends. Cleared ephemeral fields are excluded.
pub(super) fn returned<S: GraphState>(since: Since<S>, alive: &[usize]) -> CallWrites<S> {
    let mut returned = CallWrites::default();
    let lives = |field: usize| !S::field(field).is_some_and(|spec| spec.ephemeral) || alive.contains(&field);
    since.into_iter().filter(|write| lives(write.field())).for_each(|write| returned.push(write));
    returned
}
