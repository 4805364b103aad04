use crate::engine::ledger::Ledger;
use crate::engine::task::WriteOf;
use crate::node::NodeError;
use crate::state::{Decoded, EncodeError, FieldWrite, Form, GraphState, Update, WriteKind, Writes};

/// The writes of a subgraph run since it began, to be applied again to the parent state.
///
/// This is not the difference of two states: an appended item is appended to the parent state as well, next to the
/// items of sibling tasks.
pub(crate) struct CallWrites<S: GraphState> {
    /// Writes by field, with the fields in the order of their first writes.
    fields: Vec<(usize, Vec<WriteOf<S>>)>,
}

impl<S: GraphState> Default for CallWrites<S> {
    fn default() -> Self {
        Self { fields: Vec::new() }
    }
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

impl<S: GraphState> CallWrites<S> {
    /// Adds the writes of an applied superstep.
    pub(in crate::engine) fn take_in(&mut self, ledger: &Ledger, cleared: &[usize], writes: Vec<WriteOf<S>>) {
        // A cleared ephemeral field counts as not written.
        self.fields.retain(|(field, _)| !cleared.contains(field));
        writes.into_iter().filter(|write| ledger.counts(write)).for_each(|write| self.push(write));
    }

    /// Adds one write after the others.
    pub(in crate::engine) fn push(&mut self, write: WriteOf<S>) {
        let field = write.field();
        let at = self.fields.iter().position(|(known, _)| *known == field);
        let writes = match at.and_then(|at| self.fields.get_mut(at)) {
            Some((_, writes)) => writes,
            None => {
                self.fields.push((field, vec![write]));
                return;
            }
        };
        // A reducer that allows one writer still folds each of its writes.
        let replaces = S::field(field).is_some_and(|spec| spec.reducer.is_none());
        if replaces || write.kind() == WriteKind::Overwrite {
            writes.clear();
        }
        writes.push(write);
    }

    /// Converts the writes into one update, given the state that they have led to.
    pub(in crate::engine) fn into_update(self, state: &S) -> Result<S::Update, NodeError> {
        let mut all = Writes::default();
        for (field, writes) in self.fields {
            let overwritten = writes.first().is_some_and(|first| first.kind() == WriteKind::Overwrite);
            if overwritten && writes.len() > 1 {
                // In the parent superstep an overwrite cancels the task's other writes to the field, so it has to
                // contain the whole value.
                all.push(value_of(state, field)?);
            } else {
                all.extend(writes);
            }
        }
        Ok(S::Update::__from_writes(all))
    }
}

/// Combines the writes of a call on the parent state with the update of a command that follows them.
///
/// In one task, an overwrite cancels the other writes to its field. Here the command's write comes after it.
pub(crate) fn followed_by<S: GraphState>(
    state: &S,
    written: S::Update,
    command: S::Update,
) -> Result<S::Update, NodeError> {
    let overwrites = |field: usize| {
        written.__writes().iter().any(|write| write.kind() == WriteKind::Overwrite && write.field() == field)
    };
    if !command.__writes().iter().any(|write| overwrites(write.field())) {
        return Ok(written.and(command));
    }
    let (mut after, mut all) = (state.__duplicate(), CallWrites::default());
    for write in written.__into_writes().into_iter().chain(command.__into_writes()) {
        let field = write.field();
        write.clone().apply(&mut after).map_err(|source| {
            let source = source.on_field::<S>(field);
            NotFollowed { field: S::field(field).map_or("?", |spec| spec.name), source }
        })?;
        all.push(write);
    }
    all.into_update(&after)
}

/// Returns the value of a field as an overwrite.
fn value_of<S: GraphState>(state: &S, field: usize) -> Result<WriteOf<S>, NodeError> {
    let name = S::field(field).map_or("?", |spec| spec.name);
    let mut bytes = Vec::new();
    let encoding = state.__encode_field(field, &mut bytes)?.ok_or(NotReturned { field: name })?;
    let payload = crate::payload::Payload::new(encoding, bytes.as_slice());
    match WriteOf::<S>::__decode(name, Form::Overwrite, &payload) {
        Decoded::Write(write) => Ok(write),
        Decoded::Unknown => Err(NotReturned { field: name }.into()),
        Decoded::Invalid(error) => Err(EncodeError::of_plan(error).into()),
    }
}
