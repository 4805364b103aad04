use crate::erased::Payload;
use crate::graph::Graph;
use crate::run::{NeedsContext, Run};
use crate::state::IntoInput;

use super::{Flow, Workflow, WorkflowResult};

/// Implemented by no type, so that `Workflow::run` fails to compile with a helpful message.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "this workflow is not compiled yet",
    label = "only the graph of a workflow runs",
    note = "write `.compile()?` before this call: it returns the `Graph` of the workflow"
)]
pub trait WorkflowHint<I: Payload, R: WorkflowResult, D> {
    fn compiled(&self) -> &Graph<Flow<I, R>, D>;
}

impl<I: Payload, R: WorkflowResult, D: Send + Sync + 'static> Workflow<I, R, D> {
    #[doc(hidden)]
    pub fn run(&self, input: impl IntoInput<Flow<I, R>>) -> Run<Flow<I, R>, D, NeedsContext>
    where
        Self: WorkflowHint<I, R, D>,
    {
        self.compiled().run(input)
    }
}
