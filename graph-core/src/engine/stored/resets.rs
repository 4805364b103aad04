//! The meaning of the whole values that a subgraph run on the parent state has stored.

use serde::{Deserialize, Serialize};

use crate::engine::task::EncodedWrite;
use crate::erased::StateType;
use crate::state::Form;

/// The fields whose stored value is not an ordinary write. A checkpoint stores each as a whole value, and the parent state
/// needs to know which it was.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resets {
    /// The value is an overwrite, which cancels the writes of sibling tasks.
    overwritten: Vec<usize>,
    /// The value is that of a cleared ephemeral field. No task has written it.
    cleared: Vec<usize>,
}

/// [`Resets`] as a checkpoint stores them, by the names of the fields.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredResets {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    overwritten: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cleared: Vec<String>,
}

impl Resets {
    /// Takes in the writes of a superstep to one field, which may have cleared the field before. Returns `true` if the
    /// clearing has to be stored before the writes.
    pub(crate) fn add<'w>(
        &mut self,
        state: &StateType,
        field: usize,
        mut writes: impl Iterator<Item = &'w EncodedWrite>,
        is_cleared: bool,
    ) -> bool {
        let overwritten = writes.any(|write| write.form == Form::Overwrite);
        let replaced = state.field(field).is_none_or(|spec| spec.reducer.is_none());
        if overwritten || replaced {
            self.forget(field);
            self.overwritten.extend(overwritten.then_some(field));
            return false;
        }
        if is_cleared {
            self.clear(field);
        }
        is_cleared
    }

    /// Takes in that a field was cleared.
    pub(crate) fn clear(&mut self, field: usize) {
        self.forget(field);
        self.cleared.push(field);
    }

    fn forget(&mut self, field: usize) {
        self.overwritten.retain(|known| *known != field);
        self.cleared.retain(|known| *known != field);
    }

    pub(crate) fn stored(&self, state: &StateType) -> StoredResets {
        let names = |fields: &[usize]| {
            fields.iter().filter_map(|&field| Some(state.field(field)?.name.to_owned())).collect()
        };
        StoredResets { overwritten: names(&self.overwritten), cleared: names(&self.cleared) }
    }
}

impl StoredResets {
    /// The fields whose value is an overwrite in a checkpoint of an older version.
    pub(crate) fn of_older(overwritten: Vec<String>) -> Self {
        Self { overwritten, cleared: Vec::new() }
    }

    pub(crate) fn read(&self, state: &StateType) -> Resets {
        let fields = |names: &[String]| names.iter().filter_map(|name| state.field_named(name)).collect();
        Resets { overwritten: fields(&self.overwritten), cleared: fields(&self.cleared) }
    }

    pub(crate) fn is_overwritten(&self, field: &str) -> bool {
        self.overwritten.iter().any(|name| name == field)
    }

    pub(crate) fn is_cleared(&self, field: &str) -> bool {
        self.cleared.iter().any(|name| name == field)
    }
}
