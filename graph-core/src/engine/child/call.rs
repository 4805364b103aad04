use std::sync::Arc;

use crate::graph::Graph;
use crate::node::Outward;
use crate::state::GraphState;

/// A call of a graph by a task of another.
pub(crate) struct Call<'a, C: GraphState, D> {
    pub(crate) graph: Graph<C, D>,
    pub(crate) context: Arc<D>,
    pub(crate) beginning: Beginning<'a, C>,
    pub(crate) kept: Kept,
    pub(crate) recursion_limit: Option<u64>,
    /// Whether several tasks of a superstep may call it.
    pub(crate) packets: bool,
}

/// What a call begins with.
#[doc(hidden)]
pub enum Beginning<'a, C: GraphState> {
    /// The state of the run around it, or a part of that, which is to have what the call writes.
    On(&'a C),
    /// An input, made when there is nothing to go on with.
    With(Box<dyn Fn() -> C::Input + Send + Sync + 'a>),
}

/// What is stored of a call, where the run around it is on a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Nothing: it begins anew when its task runs again in another process.
    Nothing,
    /// The call: it is gone on with when its task runs again, and the next one begins anew.
    Call,
    /// The state: each call goes on with what the one before it on the thread has left; with a key, the one of that key.
    Thread(Option<String>),
}

/// What a call came to.
#[doc(hidden)]
pub struct Came<C: GraphState> {
    pub(crate) state: C,
    /// The state that it began with, with its input; of a call with an input.
    pub(crate) begun: Option<C>,
    /// What it has written, of a call on the state of the run around it.
    pub(crate) update: C::Update,
    /// What its nodes have said to the graph around it.
    pub(crate) said: Vec<Outward>,
}

impl<C: GraphState> Came<C> {
    pub(super) fn again(&self) -> Self {
        Self {
            state: self.state.__duplicate(),
            begun: self.begun.as_ref().map(GraphState::__duplicate),
            update: self.update.clone(),
            said: self.said.clone(),
        }
    }
}
