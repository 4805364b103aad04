//! The function of a workflow, as a graph of one node runs it.

use std::marker::PhantomData;

use futures_util::FutureExt as _;
use futures_util::future::Map;

use crate::engine::Ctx;
use crate::node::{CallWith, ErasedNode, Exit, IntoStep, NodeError, Packet, Payload, Step, StepFuture};

use super::{Finishes, Flow, Returned};

/// Runs `F`, and takes what it returns for the run's result.
pub struct Function<F, Out> {
    run: std::sync::Arc<F>,
    returns: PhantomData<fn() -> Out>,
}

/// What the function has returned.
pub struct Came<Out>(Out);

impl<F, Out> Function<F, Out> {
    pub(super) fn new(run: std::sync::Arc<F>) -> Self {
        Self { run, returns: PhantomData }
    }
}

impl<'a, F, Args, Out> CallWith<'a, Args, Came<Out>> for Function<F, Out>
where
    F: CallWith<'a, Args, Out>,
{
    type Fut = Map<F::Fut, fn(Out) -> Came<Out>>;
    type At = F::At;

    fn call_with(&self, args: Self::At) -> Self::Fut {
        self.run.call_with(args).map(Came)
    }
}

#[diagnostic::do_not_recommend]
impl<I: Payload, R: Returned, Out: Finishes<Returned = R>> IntoStep<Flow<I, R>> for Came<Out> {
    fn exits() -> Option<Vec<Exit>> {
        None
    }

    fn into_step(self) -> Result<Step<Flow<I, R>>, NodeError> {
        self.0.finish().map(|returned| Step::update(Flow::returning(returned)))
    }
}

/// The node, which is sent what the run was given.
pub(super) struct WithInput<S, D>(pub(super) Box<dyn ErasedNode<S, D>>);

impl<I: Payload, R: Returned, D: 'static> ErasedNode<Flow<I, R>, D> for WithInput<Flow<I, R>, D> {
    fn call<'a>(
        &'a self,
        state: &'a Flow<I, R>,
        _: Option<&'a Packet>,
        ctx: &'a Ctx<D>,
    ) -> StepFuture<'a, Flow<I, R>> {
        self.0.call(state, Some(state.given().packet()), ctx)
    }
}
