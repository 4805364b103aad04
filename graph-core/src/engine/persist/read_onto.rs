//! The state of a run that goes on with the state of the run around it: stored is what it has written, and nothing else.

use crate::checkpoint::{ChangeKind, RecordKey, RecordKind, StoredField, TaskRecord};
use crate::engine::child::Returned;
use crate::engine::task::WriteOf;
use crate::error::{ErrorKind, with_causes};
use crate::payload::Payload;
use crate::state::{Decoded, FieldWrite as _, Form, GraphState, WriteKind, Writes};

use super::corrupt::corrupt;
use super::pieces::Pieces;
use super::read_records::Reader;
use super::read_state::ReadState;
use super::records::key;

/// What has been written since the run began.
pub(super) type Since<S> = Writes<WriteOf<S>>;

impl<S: GraphState, D> Reader<'_, S, D> {
    /// Writes what is stored of the run into the state that it began with.
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
                records.push(TaskRecord { key: at, payload: piece.payload.clone() });
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

/// Whether a stored value is one that a field without a reducer was given: it is written like that again.
fn replaces<S: GraphState>(field: &str, value: &Payload) -> bool {
    match WriteOf::<S>::__decode(field, Form::Delta, value) {
        Decoded::Write(write) => write.kind() == WriteKind::Exclusive,
        Decoded::Unknown | Decoded::Invalid(_) => false,
    }
}

/// The same as what the run hands back when it has ended. Ephemeral fields that have been cleared since are not in it.
pub(super) fn returned<S: GraphState>(since: Since<S>, alive: &[usize]) -> Returned<S> {
    let mut returned = Returned::default();
    let lives = |field: usize| !S::field(field).is_some_and(|spec| spec.ephemeral) || alive.contains(&field);
    since.into_iter().filter(|write| lives(write.field())).for_each(|write| returned.push(write));
    returned
}
