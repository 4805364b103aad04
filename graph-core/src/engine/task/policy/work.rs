use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::FutureExt as _;

use crate::engine::context::ErasedContext;
use crate::engine::graph::CompiledNode;
use crate::engine::task::attempt::Attempt;
use crate::engine::task::encoded::Keep;
use crate::engine::task::spanned::Spanned;
use crate::engine::task::task::{Failed, Finished, Unfinished};
use crate::erased::{ErasedState, TaskWrites};
use crate::plan::Task;
use crate::stream::Events;

use super::guarded::{Guarded, GuardedFuture};

/// The execution of a task: a single attempt, or the attempts of a node with a policy.
pub(crate) enum Work<'a> {
    Attempt(Spanned<Attempt<'a>>),
    Guarded(GuardedFuture<'a>),
}

impl<'a> Work<'a> {
    pub(crate) fn new(
        node: &'a CompiledNode,
        state: &'a dyn ErasedState,
        task: &'a Task,
        ctx: &'a dyn ErasedContext,
        keep: Keep,
        events: Option<&'a Events>,
        spare: TaskWrites,
    ) -> Self {
        match &node.policy {
            None => {
                let cx = ctx.cx();
                let span = cx.shared.spans.node(cx.node(), cx.at.get());
                let future = span.within(|| node.run.call(state, task.packet.as_ref(), ctx, spare));
                Self::Attempt(Spanned::new(span, Attempt::new(future, cx, keep)))
            }
            Some(policy) => {
                let guarded = Guarded { node, policy, state, task, ctx, keep, events };
                // Between the attempts there is code of values, such as the drop of an error.
                let run = AssertUnwindSafe(guarded.run()).catch_unwind();
                Self::Guarded(Box::pin(
                    run.map(|done| done.unwrap_or_else(|panic| Err(Failed::caught(panic).into()))),
                ))
            }
        }
    }

    /// Polls the execution, and passes its result to `take`.
    #[inline]
    pub(crate) fn poll_into(
        &mut self,
        cx: &mut Context<'_>,
        keep: Keep,
        take: impl FnOnce(Finished),
    ) -> Poll<Result<(), Box<Unfinished>>> {
        match self {
            Self::Attempt(attempt) => attempt.poll_into(cx, keep, take),
            Self::Guarded(guarded) => guarded.as_mut().poll(cx).map(|result| result.map(take)),
        }
    }
}

impl Future for Work<'_> {
    type Output = Result<Finished, Box<Unfinished>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut *self {
            Self::Attempt(attempt) => Pin::new(attempt).poll(cx),
            Self::Guarded(guarded) => guarded.as_mut().poll(cx),
        }
    }
}
