//! The only node of a workflow's graph, which runs the function.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::engine::ContextWith;
use crate::node::{Calls, ErasedNode, Packet, PacketMissing, Payload, Source, Step, StepFuture};

use super::{Flow, WorkflowResult, WorkflowReturn};

/// Passes the run's input to the function as a packet, and returns its result as an update.
pub(super) struct Function<F, Args, Out> {
    run: Arc<F>,
    signature: PhantomData<fn(Args) -> Out>,
}

impl<F, Args, Out> Function<F, Args, Out> {
    pub(super) fn new(run: Arc<F>) -> Self {
        Self { run, signature: PhantomData }
    }
}

impl<I, R, D, F, Args, Out> ErasedNode<Flow<I, R>, D> for Function<F, Args, Out>
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
        state: &'a Flow<I, R>,
        _: Option<&'a Packet>,
        ctx: &'a ContextWith<D>,
    ) -> StepFuture<'a, Flow<I, R>> {
        Box::pin(async move {
            let from = Source { state, packet: Some(state.given().packet()), ctx };
            let running = Args::start(&*self.run, from).ok_or(PacketMissing)?;
            Ok(Step::update(Flow::returning(running.await.finish()?)))
        })
    }
}
