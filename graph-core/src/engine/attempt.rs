use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::Poll;

use crate::contain;
use crate::error::Panic;
use crate::node::{NodeError, StepFuture};
use crate::state::GraphState;

use super::Context;
use super::desk::Desk;
use super::encoded::Keep;
use super::task::{Failed, Finished, Unfinished, finish};

/// One attempt of a task: polls the node's future and prepares its result. A panic in either is the task's failure.
///
/// An attempt that is pending while one of its interrupts is open has ended: its future is dropped.
pub(super) struct Attempt<'a, S: GraphState> {
    future: Option<StepFuture<'a, S>>,
    cx: &'a Context,
    keep: Keep,
}

impl<'a, S: GraphState> Attempt<'a, S> {
    #[inline]
    pub(super) fn new(future: StepFuture<'a, S>, cx: &'a Context, keep: Keep) -> Self {
        Self { future: Some(future), cx, keep }
    }
}

impl<S: GraphState> Attempt<'_, S> {
    /// Drops the future. A panic in the drop of its contents is ignored.
    #[cold]
    pub(super) fn end(&mut self) {
        if let Some(future) = self.future.take() {
            contain::discard(future);
        }
    }
}

impl<S: GraphState> Drop for Attempt<'_, S> {
    #[inline]
    fn drop(&mut self) {
        if self.future.is_some() {
            self.end();
        }
    }
}

impl<S: GraphState> Future for Attempt<'_, S> {
    type Output = Result<Finished<S>, Box<Unfinished>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let mut result = None;
        let keep = self.keep;
        self.poll_into(cx, keep, |finished| result = Some(finished)).map(|polled| match (polled, result) {
            (Err(unfinished), _) => Err(unfinished),
            (Ok(()), Some(finished)) => Ok(finished),
            (Ok(()), None) => Err(Failed::Panic(Panic("it finished without a result".to_owned())).into()),
        })
    }
}

impl<S: GraphState> Attempt<'_, S> {
    /// Polls the future, and passes its result to `take`.
    ///
    /// `keep` is a parameter so that a caller with a constant compiles no encoding in.
    #[inline]
    pub(super) fn poll_into(
        &mut self,
        cx: &mut std::task::Context<'_>,
        keep: Keep,
        take: impl FnOnce(Finished<S>),
    ) -> Poll<Result<(), Box<Unfinished>>> {
        let this = self;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let Some(future) = &mut this.future else {
                return Poll::Ready(Err(Failed::Panic(Panic("polled after it ended".to_owned()))));
            };
            // The result stays where the node's future wrote it until it is taken apart. Moving it as a whole right
            // after it was written in parts would stall on store forwarding.
            let polled = future.as_mut().poll(cx);
            if polled.is_pending() {
                return Poll::Pending;
            }
            // Dropped here because panics are caught here; `drop` then has nothing left to guard.
            this.future = None;
            if let Some(fault) = this.fault() {
                return Poll::Ready(Err(Failed::Fault(fault)));
            }
            polled.map(|step| finish(step, this.cx.stamp(), keep).map(take))
        }));
        match polled {
            Ok(Poll::Ready(Ok(()))) => Poll::Ready(Ok(())),
            Ok(Poll::Pending) if this.cx.used_desk().is_none() => Poll::Pending,
            Ok(Poll::Pending) => this.suspend(),
            Ok(Poll::Ready(Err(failed))) => Poll::Ready(Err(this.fail(failed))),
            Err(panic) => {
                // The future's contents may be inconsistent after a panic: it is dropped and never polled again.
                let failed = Failed::caught(panic);
                this.end();
                Poll::Ready(Err(this.fail(failed)))
            }
        }
    }

    /// Returns the error with which the attempt fails whatever its node returned.
    #[inline]
    fn fault(&self) -> Option<NodeError> {
        self.cx.used_desk().and_then(Desk::take_fault)
    }

    #[cold]
    #[inline(never)]
    fn fail(&self, failed: Failed) -> Box<Unfinished> {
        let open = self.cx.used_desk().map(Desk::take_reopened).unwrap_or_default();
        Box::new(Unfinished { failed: Some(failed), open, halt: None })
    }

    /// Ends a pending attempt that waits for an answer, sleeps, or has a fault that its node has not seen.
    #[cold]
    #[inline(never)]
    fn suspend<T>(&mut self) -> Poll<Result<T, Box<Unfinished>>> {
        let cx = self.cx;
        let Some(desk) = cx.used_desk() else { return Poll::Pending };
        if let Some(fault) = desk.take_fault() {
            self.end();
            return Poll::Ready(Err(self.fail(Failed::Fault(fault))));
        }
        // Taken before the future is dropped, because dropping it withdraws the open interrupts.
        let (open, halt, until) = (desk.take_open(), desk.take_halt(), desk.sleeps_until());
        let asleep = || until.is_some_and(|until| cx.goes_to_sleep(desk, until));
        if open.is_empty() && halt.is_none() && !asleep() {
            return Poll::Pending;
        }
        cx.memo(|memo| memo.asleep = until);
        self.end();
        Poll::Ready(Err(Box::new(Unfinished { failed: None, open, halt })))
    }
}

/// The attempt of a superstep's only task in a run in memory. It writes its result directly into its slot, without
/// passing it along.
pub(super) struct LoneAttempt<'a, S: GraphState> {
    attempt: Attempt<'a, S>,
    result: &'a mut Option<Finished<S>>,
}

impl<'a, S: GraphState> LoneAttempt<'a, S> {
    #[inline]
    pub(super) fn new(
        future: StepFuture<'a, S>,
        cx: &'a Context,
        result: &'a mut Option<Finished<S>>,
    ) -> Self {
        Self { attempt: Attempt::new(future, cx, Keep::Nothing), result }
    }
}

impl<S: GraphState> Future for LoneAttempt<'_, S> {
    type Output = Result<(), Box<Unfinished>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.attempt.poll_into(cx, Keep::Nothing, |finished| *this.result = Some(finished))
    }
}

/// Calls a function of the user that is not a node, and catches a panic.
pub(crate) fn contained<T>(run: impl FnOnce() -> T) -> Result<T, Panic> {
    contain::contained(run).map_err(Panic)
}
