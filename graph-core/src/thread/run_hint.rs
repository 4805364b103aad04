use crate::graph::Graph;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput};

use super::PersistentGraph;

/// Implemented by no type, so that `PersistentGraph::run` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph with a checkpointer runs only on threads",
    label = "choose a thread first",
    note = "write `.thread(\"a name\").run(..)`, or `.graph().run(..)` to run without the checkpointer"
)]
pub trait RunHint<S: GraphState, D> {
    fn by_itself(&self) -> &Graph<S, D>;
}

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    #[doc(hidden)]
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext>
    where
        Self: RunHint<S, D>,
    {
        self.by_itself().run(input)
    }
}
