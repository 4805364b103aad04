use std::any::Any;

use crate::payload::Encoding;
use crate::reducers::{ReduceError, Stamp};
use crate::state::{EncodeError, Form, WriteKind};

use super::{ErasedState, StateType};

/// The writes of an update, in order.
pub(crate) trait ErasedWrites: Any + Send + Sync {
    /// Returns the type of the state.
    fn state_type(&self) -> &'static StateType;

    /// Returns the number of writes.
    fn count(&self) -> usize;

    /// Returns the field of the nth write, and the rule by which it combines with other writes.
    fn target(&self, nth: usize) -> Option<(usize, WriteKind)>;

    /// Returns a copy.
    fn copied(&self) -> Box<dyn ErasedWrites>;

    /// Runs the first phase of the reducers.
    ///
    /// # Errors
    /// The field whose reducer refused a write, with its error.
    fn prepare(&mut self, stamp: Stamp<'_>) -> Result<(), (usize, ReduceError)>;

    /// Appends the stored form of the nth write to `into`, and returns its form. Writes nothing for an untracked field.
    fn encode(&self, nth: usize, into: &mut Vec<u8>) -> Result<Option<(Form, Encoding)>, EncodeError>;

    /// Takes out all writes and applies those that `counts` selects.
    ///
    /// # Errors
    /// The field whose reducer refused a write, with its error. Earlier writes stay applied.
    fn fold(
        &mut self,
        state: &mut dyn ErasedState,
        counts: &dyn Fn(usize, WriteKind) -> bool,
        undos: &mut dyn ErasedUndos,
    ) -> Result<(), (usize, ReduceError)>;

    /// Takes out the only write and applies it. Returns `false` and does nothing if there is more than one write.
    ///
    /// Where applying can fail, the way to take it back is added to `undos`, and the field to `touched`.
    ///
    /// # Errors
    /// As for [`fold`](Self::fold).
    fn fold_alone(
        &mut self,
        state: &mut dyn ErasedState,
        undos: &mut dyn ErasedUndos,
        touched: &mut Vec<usize>,
    ) -> Result<bool, (usize, ReduceError)>;

    /// Appends a copy of the nth write of an update of the same state type.
    fn push_from(&mut self, other: &dyn ErasedWrites, nth: usize);

    /// Returns the writes as JSON, by the dump rules: an array of objects.
    fn to_json(&self) -> Result<serde_json::Value, serde_json::Error>;
}

/// The values that take writes back, in the order in which the writes were applied.
pub trait ErasedUndos: Any + Send {
    /// Takes all writes back.
    fn roll_back(&mut self, state: &mut dyn ErasedState);

    /// Forgets how to take the writes back.
    fn forget(&mut self);
}

/// The writes of a task. An update without writes allocates nothing.
#[derive(Default)]
pub struct TaskWrites(Option<Box<dyn ErasedWrites>>);

impl TaskWrites {
    pub(crate) fn new(writes: Box<dyn ErasedWrites>) -> Self {
        Self((writes.count() > 0).then_some(writes))
    }

    /// Returns the writes, to which writes can be added.
    pub(crate) fn of_type(&mut self, state: &StateType) -> &mut dyn ErasedWrites {
        &mut **self.0.get_or_insert_with(state.writes)
    }

    /// Returns the writes; `None` if the update may have none.
    pub(crate) fn as_erased(&self) -> Option<&dyn ErasedWrites> {
        self.0.as_deref()
    }

    pub(crate) fn as_erased_mut(&mut self) -> Option<&mut dyn ErasedWrites> {
        match &mut self.0 {
            Some(writes) => Some(&mut **writes),
            None => None,
        }
    }

    pub(crate) fn into_erased(self) -> Option<Box<dyn ErasedWrites>> {
        self.0
    }

    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(0, |writes| writes.count())
    }

    /// Returns `true` if it holds memory, with or without writes.
    #[inline]
    pub(crate) fn has_memory(&self) -> bool {
        self.0.is_some()
    }

    /// Returns `true` if it holds memory and no writes.
    pub(crate) fn is_spare(&self) -> bool {
        self.0.as_ref().is_some_and(|writes| writes.count() == 0)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Returns the fields and kinds of the writes, in order.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (usize, WriteKind)> {
        let writes = self.as_erased();
        (0..self.count()).filter_map(move |nth| writes?.target(nth))
    }

    /// Returns the written fields, one for each write.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> {
        self.targets().map(|(field, _)| field)
    }

    /// Returns `true` if a write is to this field.
    pub(crate) fn has(&self, field: usize) -> bool {
        self.fields().any(|written| written == field)
    }

    /// Appends copies of the writes of another update.
    pub(crate) fn append(&mut self, state: &StateType, other: &Self) {
        if let Some(writes) = other.as_erased() {
            (0..writes.count()).for_each(|nth| self.of_type(state).push_from(writes, nth));
        }
    }

    /// Keeps the writes to the fields that `keep` selects.
    pub(crate) fn retain(&mut self, state: &StateType, keep: impl Fn(usize) -> bool) {
        let all = std::mem::take(self);
        let Some(writes) = all.as_erased() else { return };
        for (nth, _) in all.fields().enumerate().filter(|(_, field)| keep(*field)) {
            self.of_type(state).push_from(writes, nth);
        }
    }
}

impl Clone for TaskWrites {
    fn clone(&self) -> Self {
        Self(self.0.as_ref().filter(|writes| writes.count() > 0).map(|writes| writes.copied()))
    }
}
