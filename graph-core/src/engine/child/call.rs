use std::sync::Arc;

use crate::engine::context::AppContext;
use crate::engine::graph::{CallStorage, ErasedGraph};
use crate::erased::{ErasedInput, ErasedState, TaskWrites};
use crate::step::ErasedParentCommand;

/// A call of a subgraph by a task.
pub(crate) struct Call<'a> {
    pub(crate) graph: ErasedGraph,
    pub(crate) context: Arc<dyn AppContext>,
    pub(crate) start: CallStart<'a>,
    pub(crate) storage: CallStorage,
    pub(crate) recursion_limit: Option<u64>,
    /// `true` if several tasks of a superstep may make the call.
    pub(crate) packets: bool,
}

/// The start of a subgraph call.
#[doc(hidden)]
pub enum CallStart<'a> {
    /// The parent state, or a part of it, to which the call's writes are applied.
    OnParentState(&'a dyn ErasedState),
    /// An input, created only if there is no earlier call to continue.
    WithInput(Box<dyn Fn() -> Box<dyn ErasedInput> + Send + Sync + 'a>),
}

/// The result of a subgraph call.
#[doc(hidden)]
pub struct ErasedCallResult {
    pub(crate) state: Arc<dyn ErasedState>,
    /// The state at the beginning, with the input applied; only for a call with an input.
    pub(crate) begun: Option<Arc<dyn ErasedState>>,
    /// The writes of the call; only for a call on the parent state.
    pub(crate) update: TaskWrites,
    /// The commands of its nodes to the parent graph.
    pub(crate) parent_commands: Vec<ErasedParentCommand>,
}

impl ErasedCallResult {
    pub(crate) fn again(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            begun: self.begun.clone(),
            update: self.update.clone(),
            parent_commands: self.parent_commands.clone(),
        }
    }
}
