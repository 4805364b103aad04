use crate::engine::ledger::Ledger;
use crate::engine::task::WriteOf;
use crate::node::NodeError;
use crate::state::{Decoded, EncodeError, FieldWrite, Form, GraphState, Update, WriteKind, Writes};

/// What a run has written since it began, to be written once more into the state that it began with.
///
/// It is not the difference of two states: what was appended is appended there, next to what siblings append.
pub(crate) struct Returned<S: GraphState> {
    /// By field, in the order of the first writes.
    fields: Vec<(usize, Vec<WriteOf<S>>)>,
}

impl<S: GraphState> Default for Returned<S> {
    fn default() -> Self {
        Self { fields: Vec::new() }
    }
}

/// A field that was overwritten and written again cannot be told as one write.
#[derive(Debug, thiserror::Error)]
#[error(
    "field `{field}` was overwritten in the subgraph and then written again, and its value cannot be handed on: \
     it is in no checkpoint"
)]
struct NotReturned {
    field: &'static str,
}

impl<S: GraphState> Returned<S> {
    /// Takes in the writes of a superstep that has been applied.
    pub(in crate::engine) fn take_in(&mut self, ledger: &Ledger, cleared: &[usize], writes: Vec<WriteOf<S>>) {
        // An ephemeral field that was cleared is as if it had not been written.
        self.fields.retain(|(field, _)| !cleared.contains(field));
        writes.into_iter().filter(|write| ledger.counts(write)).for_each(|write| self.push(write));
    }

    /// Takes in one write, behind the others.
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
        if write.kind() != WriteKind::Folded {
            writes.clear();
        }
        writes.push(write);
    }

    /// All of it as an update, with the state that it has led to.
    pub(in crate::engine) fn into_update(self, state: &S) -> Result<S::Update, NodeError> {
        let mut all = Writes::default();
        for (field, writes) in self.fields {
            let overwritten = writes.first().is_some_and(|first| first.kind() == WriteKind::Overwrite);
            if overwritten && writes.len() > 1 {
                // Elsewhere an overwrite silences what its task writes besides: it has to say everything.
                all.push(value_of(state, field)?);
            } else {
                all.extend(writes);
            }
        }
        Ok(S::Update::__from_writes(all))
    }
}

/// A field's value as an overwrite.
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
