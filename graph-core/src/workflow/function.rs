//! The only node of a workflow's graph, which runs the function.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::{ErasedContext, ErasedState, TaskWrites};
use crate::node::{
    Calls, ErasedNode, ErasedSource, ErasedStep, Packet, PacketMissing, Payload, Source, Step, StepFuture,
};

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
    F: Send + Sync + 'static,
    Args: Calls<Flow<I, R>, D, F, Out>,
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
            let from = ErasedSource { state, packet: None, ctx }.typed::<Flow<I, R>, D>()?;
            let from = Source { packet: Some(from.state.given().packet()), ..from };
            let running = Args::start(&*self.run, from).ok_or(PacketMissing)?;
            let step: Step<Flow<I, R>> = Step::update(Flow::returning(running.await.finish()?));
            ErasedStep::of(step, spare, from.ctx)
        })
    }
}
