//! Adapts a machine's node functions to graph nodes.

use std::marker::PhantomData;

use futures_util::FutureExt as _;
use futures_util::future::Map;

use crate::error::NodeError;
use crate::node::{CallWith, FixedArgs};
use crate::step::{Exit, IntoStep, Step};

use super::{Leads, Machine};

/// A node function of `M`, whose results are wrapped in [`NodeOutput`].
pub(crate) struct NodeFn<M, F, Out> {
    run: F,
    types: PhantomData<fn(M) -> Out>,
}

/// The return value of a node of `M`.
pub(crate) struct NodeOutput<M, Out> {
    out: Out,
    machine: PhantomData<fn(M)>,
}

impl<M, F, Out> NodeFn<M, F, Out> {
    pub(super) fn new(run: F) -> Self {
        Self { run, types: PhantomData }
    }
}

impl<M, Out> NodeOutput<M, Out> {
    fn new(out: Out) -> Self {
        Self { out, machine: PhantomData }
    }
}

impl<'a, M, F, Args, Out> CallWith<'a, Args> for NodeFn<M, F, Out>
where
    Args: FixedArgs,
    F: CallWith<'a, Args, Out: Future<Output = Out>>,
{
    type Out = Map<F::Out, fn(Out) -> NodeOutput<M, Out>>;

    fn call_with(&self, args: Args::At<'a>) -> Self::Out {
        self.run.call_with(args).map(NodeOutput::new)
    }
}

impl<M: Machine, Out: Leads<M>> IntoStep<M::Run> for NodeOutput<M, Out> {
    fn exits() -> Option<Vec<Exit>> {
        Some(Out::exits())
    }

    fn into_step(self) -> Result<Step<M::Run>, NodeError> {
        self.out.leave(Default::default())
    }
}
