use crate::StateGraph;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput};
use crate::stream::RunStream;

use super::Graph;

/// Implemented by no type, so that calls of a `StateGraph` that need a compiled graph fail with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this graph is not compiled yet",
    label = "only a compiled graph has this method",
    note = "write `.compile()?` before this call: it checks the wiring and returns the `Graph`"
)]
pub trait CompileFirst<S: GraphState, D> {
    fn compiled(&self) -> &Graph<S, D>;
}

impl<S: GraphState, D: Send + Sync + 'static> StateGraph<S, D> {
    #[doc(hidden)]
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext>
    where
        Self: CompileFirst<S, D>,
    {
        self.compiled().run(input)
    }

    #[doc(hidden)]
    pub fn invoke(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext>
    where
        Self: CompileFirst<S, D>,
    {
        self.compiled().run(input)
    }
}

impl<S: GraphState> StateGraph<S> {
    #[doc(hidden)]
    pub fn stream(&self, input: impl IntoInput<S>) -> RunStream<S>
    where
        Self: CompileFirst<S, ()>,
    {
        self.compiled().stream(input)
    }
}
