use std::sync::Arc;

use crate::engine::erased::{AppContext, ErasedInput, ErasedState, TaskWrites};
use crate::graph::ErasedGraph;
use crate::node::ErasedParentCommand;

/// A call of a subgraph by a task.
pub(crate) struct Call<'a> {
    pub(crate) graph: ErasedGraph,
    pub(crate) context: Arc<dyn AppContext>,
    pub(crate) beginning: Beginning<'a>,
    pub(crate) kept: Kept,
    pub(crate) recursion_limit: Option<u64>,
    /// `true` if several tasks of a superstep may make the call.
    pub(crate) packets: bool,
}

/// The start of a subgraph call.
#[doc(hidden)]
pub enum Beginning<'a> {
    /// The parent state, or a part of it, to which the call's writes are applied.
    On(&'a dyn ErasedState),
    /// An input, created only if there is no earlier call to continue.
    With(Box<dyn Fn() -> Box<dyn ErasedInput> + Send + Sync + 'a>),
}

/// The extent to which a call is stored, if the parent run is on a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing. The call begins again if its task runs again in another process.
    Nothing,
    /// The call. It continues if its task runs again; the next call begins from scratch.
    Call,
    /// The state. Each call continues from the state of the call before it on the thread, or of the call before it
    /// with the same key.
    Thread(Option<String>),
}

impl Kept {
    /// Returns the reason why subgraphs inside the call cannot keep their state, with the cure. `None` if they can.
    pub(crate) fn loses_state_inside(&self, packets: bool) -> Option<&'static str> {
        match self {
            Self::Nothing => Some("whose calls are not stored: remove its `.unstored()`"),
            // The index of a packet says nothing about the call that should continue.
            Self::Call if packets => {
                Some("which begins anew for each packet: give its calls keys with `.keyed_by_packet(..)`")
            }
            Self::Call | Self::Thread(_) => None,
        }
    }
}

/// The result of a subgraph call.
#[doc(hidden)]
pub struct Came {
    pub(crate) state: Arc<dyn ErasedState>,
    /// The state at the beginning, with the input applied; only for a call with an input.
    pub(crate) begun: Option<Arc<dyn ErasedState>>,
    /// The writes of the call; only for a call on the parent state.
    pub(crate) update: TaskWrites,
    /// The commands of its nodes to the parent graph.
    pub(crate) said: Vec<ErasedParentCommand>,
}

impl Came {
    pub(super) fn again(&self) -> Self {
        Self {
            state: Arc::clone(&self.state),
            begun: self.begun.clone(),
            update: self.update.clone(),
            said: self.said.clone(),
        }
    }
}
