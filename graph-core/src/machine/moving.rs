//! Adapts a machine's node functions to graph nodes.

use std::marker::PhantomData;

use futures_util::FutureExt as _;
use futures_util::future::Map;

use crate::node::{CallWith, Exit, IntoStep, NodeError, Step};

use super::{Leads, Machine};

/// A node function of `M`, whose results are wrapped in [`Moved`].
pub struct Moving<M, F, Out> {
    run: F,
    moves: PhantomData<fn(M) -> Out>,
}

/// The return value of a node of `M`.
pub struct Moved<M, Out> {
    out: Out,
    machine: PhantomData<fn(M)>,
}

impl<M, F, Out> Moving<M, F, Out> {
    pub(super) fn new(run: F) -> Self {
        Self { run, moves: PhantomData }
    }
}

impl<M, Out> Moved<M, Out> {
    fn new(out: Out) -> Self {
        Self { out, machine: PhantomData }
    }
}

impl<'a, M, F, Args, Out> CallWith<'a, Args, Moved<M, Out>> for Moving<M, F, Out>
where
    F: CallWith<'a, Args, Out>,
{
    type Fut = Map<F::Fut, fn(Out) -> Moved<M, Out>>;
    type At = F::At;

    fn call_with(&self, args: Self::At) -> Self::Fut {
        self.run.call_with(args).map(Moved::new)
    }
}

impl<M: Machine, Out: Leads<M>> IntoStep<M::Run> for Moved<M, Out> {
    fn exits() -> Option<Vec<Exit>> {
        Some(Out::exits())
    }

    fn into_step(self) -> Result<Step<M::Run>, NodeError> {
        self.out.leave(Default::default())
    }
}
