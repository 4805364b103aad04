//! Names of other libraries for methods of graphs. The compiler answers with the name here.

use crate::StateGraph;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput};

use super::Graph;

/// Implemented by no type, so that `add_node` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph has no method `add_node`",
    label = "nodes are added by `edge`, `join` and `node`",
    note = "write `.edge(START, draft).edge(draft, END)` for a node `draft`; `named(\"another name\", draft)` gives it another name",
    note = "write `.node(draft)` for a node that only routes mention"
)]
pub trait AddNode {}

/// Implemented by no type, so that `add_conditional_edges` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph has no method `add_conditional_edges`",
    label = "conditional edges are added by `route`",
    note = "let the node return an enum that derives `Route`, or write `.route(draft, choose)` for a function `choose` that returns one"
)]
pub trait AddConditionalEdges {}

/// Implemented by no type, so that `set_entry_point` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph has no method `set_entry_point`",
    label = "an edge from START chooses the first node",
    note = "write `.edge(START, draft)` for a first node `draft`"
)]
pub trait SetEntryPoint {}

/// Implemented by no type, so that `set_finish_point` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph has no method `set_finish_point`",
    label = "an edge to END ends the run",
    note = "write `.edge(draft, END)` for a last node `draft`"
)]
pub trait SetFinishPoint {}

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    #[doc(hidden)]
    pub fn add_node<A, B>(self, _: A, _: B) -> Self
    where
        Self: AddNode,
    {
        self
    }

    #[doc(hidden)]
    pub fn add_conditional_edges<A, B>(self, _: A, _: B) -> Self
    where
        Self: AddConditionalEdges,
    {
        self
    }

    #[doc(hidden)]
    pub fn set_entry_point<A>(self, _: A) -> Self
    where
        Self: SetEntryPoint,
    {
        self
    }

    #[doc(hidden)]
    pub fn set_finish_point<A>(self, _: A) -> Self
    where
        Self: SetFinishPoint,
    {
        self
    }
}

/// Implemented by no type, so that `invoke` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph has no method `invoke`",
    label = "a graph is called by `run`",
    note = "write `.run(input).await?`, or `.stream(input)` for its events"
)]
pub trait Invoke {}

/// Implemented by no type, so that `get_state` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph has no method `get_state`",
    label = "the state of a thread is read by its `state`",
    note = "write `graph.with_checkpointer(store).thread(\"ticket-17\").state().await?`"
)]
pub trait GetState {}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    #[doc(hidden)]
    pub fn get_state<A>(&self, _: A) -> Self
    where
        Self: GetState,
    {
        self.clone()
    }

    #[doc(hidden)]
    pub fn invoke(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext>
    where
        Self: Invoke,
    {
        self.run(input)
    }
}
