use std::sync::Arc;

use crate::erased::{ErasedState, ErasedWrites, StateType, TaskWrites};
use crate::error::NodeError;
use crate::state::{Decoded, EncodeError, Form, WriteKind};

use super::write_set::WriteSet;

/// The writes of a subgraph run since it began, to be applied again to the parent state.
///
/// This is not the difference of two states: an appended item is appended to the parent state as well, next to the
/// items of sibling tasks.
#[derive(Default)]
pub(crate) struct CallWrites {
    /// Writes by field, with the fields in the order of their first writes.
    fields: Vec<(usize, TaskWrites)>,
}

/// A field was overwritten and then written again, and the result cannot be expressed as one write.
#[derive(Debug, thiserror::Error)]
#[error(
    "field `{field}` was overwritten and then written again inside the subgraph, and its value cannot be passed to \
     the parent state because the field is never stored: overwrite it last"
)]
struct NotReturned {
    field: &'static str,
}

/// A command to the parent graph cannot follow the writes of its subgraph.
#[derive(Debug, thiserror::Error)]
#[error("the reducer of field `{field}` refused the command to the parent graph")]
struct NotFollowed {
    field: &'static str,
    source: crate::reducers::ReduceError,
}

impl CallWrites {
    /// Adds the writes of an applied superstep.
    pub(crate) fn add(
        &mut self,
        state: &'static StateType,
        write_set: &WriteSet,
        cleared: &[usize],
        writes: &[TaskWrites],
    ) {
        // A cleared ephemeral field counts as not written.
        self.fields.retain(|(field, _)| !cleared.contains(field));
        for writes in writes {
            let counting = writes.targets().enumerate();
            for (nth, _) in counting.filter(|(_, (field, kind))| write_set.counts(*field, *kind)) {
                self.push(state, writes, nth);
            }
        }
    }

    /// Adds the nth write of an update after the others.
    pub(crate) fn push(&mut self, state: &'static StateType, from: &TaskWrites, nth: usize) {
        let Some(from) = from.as_erased() else { return };
        let Some((field, kind)) = from.target(nth) else { return };
        let at = self.fields.iter().position(|(known, _)| *known == field);
        let at = at.unwrap_or_else(|| {
            self.fields.push((field, TaskWrites::default()));
            self.fields.len() - 1
        });
        let Some((_, writes)) = self.fields.get_mut(at) else { return };
        // A reducer that allows one writer still folds each of its writes.
        let replaces = state.field(field).is_some_and(|spec| spec.reducer.is_none());
        if replaces || kind == WriteKind::Overwrite {
            *writes = TaskWrites::default();
        }
        writes.of_type(state).push_from(from, nth);
    }

    /// Converts the writes into one update, given the state that they have led to.
    pub(crate) fn into_update(self, state: &dyn ErasedState) -> Result<TaskWrites, NodeError> {
        let mut all = TaskWrites::default();
        let of = state.state_type();
        for (field, writes) in self.fields {
            let overwritten = writes.targets().next().is_some_and(|(_, kind)| kind == WriteKind::Overwrite);
            if overwritten && writes.count() > 1 {
                // In the parent superstep an overwrite cancels the task's other writes to the field, so it has to
                // contain the whole value.
                push_value(state, field, all.of_type(of))?;
            } else {
                all.append(of, &writes);
            }
        }
        Ok(all)
    }
}

/// Combines the writes of a call on the parent state with the update of a command that follows them.
///
/// In one task, an overwrite cancels the other writes to its field. Here the command's write comes after it.
pub(crate) fn followed_by(
    state: &dyn ErasedState,
    mut written: TaskWrites,
    command: &TaskWrites,
) -> Result<TaskWrites, NodeError> {
    let of = state.state_type();
    let overwrites = |field: usize| written.targets().any(|target| target == (field, WriteKind::Overwrite));
    if !command.fields().any(overwrites) {
        written.append(of, command);
        return Ok(written);
    }
    let (mut after, mut all, mut undos) = (state.copied(), CallWrites::default(), (of.undos)());
    for writes in [&written, command] {
        if let (Some(mut copy), Some(after)) = (writes.clone().into_erased(), Arc::get_mut(&mut after)) {
            copy.fold(after, &|_, _| true, &mut *undos).map_err(|(field, source)| NotFollowed {
                field: of.field_name(field),
                source: source.on_field(of.field(field)),
            })?;
            undos.forget();
        }
        (0..writes.count()).for_each(|nth| all.push(of, writes, nth));
    }
    all.into_update(&*after)
}

/// Appends the value of a field as an overwrite.
fn push_value(state: &dyn ErasedState, field: usize, into: &mut dyn ErasedWrites) -> Result<(), NodeError> {
    let name = state.state_type().field_name(field);
    let mut bytes = Vec::new();
    let encoding = state.encode(field, &mut bytes)?.ok_or(NotReturned { field: name })?;
    let payload = crate::payload::Payload::new(encoding, bytes.as_slice());
    match (state.state_type().decode)(name, Form::Overwrite, &payload, into) {
        Decoded::Write(_) => Ok(()),
        Decoded::Unknown => Err(NotReturned { field: name }.into()),
        Decoded::Invalid(error) => Err(EncodeError::of_plan(error).into()),
    }
}
