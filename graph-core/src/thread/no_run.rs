use crate::graph::Graph;
use crate::run::{NeedsContext, Run};
use crate::state::{GraphState, IntoInput};

use super::PersistentGraph;

/// Nothing implements it: whoever calls `run` where there is none is told what was meant.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a graph with a store runs on its threads",
    label = "on which thread?",
    note = "write `.thread(\"a name\").run(..)`; what runs without the store is `.graph()`"
)]
pub trait RunsByItself<S: GraphState, D> {
    fn by_itself(&self) -> &Graph<S, D>;
}

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    #[doc(hidden)]
    pub fn run(&self, input: impl IntoInput<S>) -> Run<S, D, NeedsContext>
    where
        Self: RunsByItself<S, D>,
    {
        self.by_itself().run(input)
    }
}
