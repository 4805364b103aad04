use superstep::messages::HasMessages;
use superstep::run::{NeedsContext, Run};
use superstep::state::IntoInput;
use superstep::{Error, Graph, GraphState};

use super::{Agent, StructuredAgent};

/// Implemented by no type, so that `Agent::compile` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an agent becomes a graph before it is compiled",
    label = "an agent is not a graph yet",
    note = "write `.graph()?.compile()?`: the graph of an agent can be extended before it is compiled"
)]
pub trait CompileHint<S: HasMessages, D> {
    fn compiled(self) -> Result<Graph<S, D>, Error>;
}

/// Implemented by no type, so that `Agent::run` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "an agent is run as a graph",
    label = "an agent is not a graph yet",
    note = "write `agent.graph()?.compile()?.run(input)`"
)]
pub trait RunHint<S: GraphState, D> {
    fn graph_of(self) -> Graph<S, D>;
}

impl<S: HasMessages, D: Send + Sync + 'static> Agent<S, D> {
    #[doc(hidden)]
    pub fn run(self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext>
    where
        Self: RunHint<S, D>,
    {
        self.graph_of().run(input)
    }

    #[doc(hidden)]
    pub fn compile(self) -> Result<Graph<S, D>, Error>
    where
        Self: CompileHint<S, D>,
    {
        self.compiled()
    }
}

impl<S: HasMessages, T, D: Send + Sync + 'static> StructuredAgent<S, T, D> {
    #[doc(hidden)]
    pub fn compile(self) -> Result<Graph<S, D>, Error>
    where
        Self: CompileHint<S, D>,
    {
        self.compiled()
    }
}
