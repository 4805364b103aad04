use std::sync::Arc;

use super::{ErasedState, StateType, TaskWrites};

/// The input of a run.
pub trait ErasedInput: Send {
    /// Returns the type of the state.
    #[doc(hidden)]
    fn state_type(&self) -> &'static StateType;

    /// Returns a copy.
    #[doc(hidden)]
    fn copied(&self) -> Box<dyn ErasedInput>;

    /// Returns the start of a fresh run.
    #[doc(hidden)]
    fn into_start(self: Box<Self>) -> ErasedStart;

    /// Returns the input as an update, for a run that continues from an existing state.
    #[doc(hidden)]
    fn into_update(self: Box<Self>) -> TaskWrites;
}

/// The start of a fresh run.
pub struct ErasedStart {
    /// The base state: required fields without a reducer as given, all other fields at their defaults.
    pub(crate) state: Arc<dyn ErasedState>,
    /// The other given fields, which go through the reducers.
    pub(crate) writes: TaskWrites,
    /// The fields that `state` contains as given.
    pub(crate) given: Vec<usize>,
}
