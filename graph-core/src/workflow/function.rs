//! The only node of a workflow's graph, which runs the function.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{ErasedContext, ErasedNode, ErasedSource, StepFuture};
use crate::erased::{ErasedState, Packet, Payload, TaskWrites};
use crate::node::{CallWith, ExtractAll};
use crate::step::{ErasedStep, Step};

use super::{Flow, WorkflowResult, WorkflowReturn};

/// Passes the run's input to the function as a packet, and returns its result as an update.
pub(super) struct Function<I, R, D, F, Args, Out> {
    run: Arc<F>,
    types: PhantomData<fn(I, R, D)>,
    signature: PhantomData<fn(Args) -> Out>,
}

impl<I, R, D, F, Args, Out> Function<I, R, D, F, Args, Out> {
    pub(super) fn new(run: Arc<F>) -> Self {
        Self { run, types: PhantomData, signature: PhantomData }
    }
}

impl<I, R, D, F, Args, Out> ErasedNode for Function<I, R, D, F, Args, Out>
where
    I: Payload,
    R: WorkflowResult,
    D: Send + Sync + 'static,
    Args: ExtractAll<Flow<I, R>, D>,
    F: for<'a> CallWith<'a, Args> + Send + Sync + 'static,
    for<'a> <F as CallWith<'a, Args>>::Out: Future<Output = Out> + Send,
    Out: WorkflowReturn<WorkflowResult = R>,
{
    fn call<'a>(
        &'a self,
        state: &'a dyn ErasedState,
        _: Option<&'a Packet>,
        ctx: &'a dyn ErasedContext,
        spare: TaskWrites,
    ) -> StepFuture<'a> {
        Box::pin(async move {
            let from = ErasedSource { state, packet: None, ctx };
            let input = from.typed::<Flow<I, R>, D>()?.state.given();
            let (args, cx) = Args::extract_all(ErasedSource { packet: Some(input.packet()), ..from })?;
            let returned = self.run.call_with(args).await.finish()?;
            let step: Step<Flow<I, R>> = Step::update(Flow::returning(returned));
            ErasedStep::of(step, spare, cx.preparing())
        })
    }
}
