use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::engine::spans::NodeSpan;

use super::attempt::Attempt;
use super::encoded::Keep;
use super::task::{Finished, Unfinished};

/// An attempt, or a wrapper of one.
pub(crate) trait DropsFuture: Unpin {
    /// Drops the node's future.
    fn end(&mut self);
}

impl DropsFuture for Attempt<'_> {
    #[inline]
    fn end(&mut self) {
        Attempt::end(self);
    }
}

/// An attempt with its span. The span is entered while the node's future is polled or dropped, and closes with the
/// attempt.
pub(crate) struct Spanned<A: DropsFuture> {
    attempt: A,
    span: NodeSpan,
}

impl<A: DropsFuture> Spanned<A> {
    #[inline]
    pub(crate) fn new(span: NodeSpan, attempt: A) -> Self {
        Self { attempt, span }
    }
}

impl Spanned<Attempt<'_>> {
    /// See [`Attempt::poll_into`].
    #[inline]
    pub(crate) fn poll_into(
        &mut self,
        cx: &mut Context<'_>,
        keep: Keep,
        take: impl FnOnce(Finished),
    ) -> Poll<Result<(), Box<Unfinished>>> {
        let Self { attempt, span } = self;
        let polled = span.within(|| attempt.poll_into(cx, keep, take));
        span.polled(&polled, |unfinished| unfinished.end());
        polled
    }
}

impl<A, T> Future for Spanned<A>
where
    A: DropsFuture + Future<Output = Result<T, Box<Unfinished>>>,
{
    type Output = A::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        let Self { attempt, span } = &mut *self;
        let polled = span.within(|| Pin::new(attempt).poll(cx));
        span.polled(&polled, |unfinished| unfinished.end());
        polled
    }
}

impl<A: DropsFuture> Drop for Spanned<A> {
    #[inline]
    fn drop(&mut self) {
        let Self { attempt, span } = self;
        span.within(|| attempt.end());
    }
}
