use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use crate::contain;
use crate::engine::context::{Context, CountedWaker, TaskScratch, Untaken};
use crate::engine::graph::StepFuture;
use crate::error::{NodeError, Panic};
use crate::interrupt::OpenInterrupt;
use crate::step::{Choice, ErasedStep, Leave};

use super::encoded::Keep;
use super::task::{Failed, Finished, Unfinished, finish, finish_cached};

/// One attempt of a task: polls the node's future, whose output is already prepared. A panic in either is the task's failure.
///
/// An attempt that is pending while one of its interrupts is open has ended: its future is dropped. Its steps in progress
/// are finished first.
pub(crate) struct Attempt<'a> {
    future: Option<StepFuture<'a>>,
    cx: &'a Context,
    keep: Keep,
    /// The waker of an attempt that was given an answer, or that has a timer which has fired.
    counted_waker: Option<Arc<CountedWaker>>,
}

impl<'a> Attempt<'a> {
    #[inline]
    pub(crate) fn new(future: StepFuture<'a>, cx: &'a Context, keep: Keep) -> Self {
        Self { future: Some(future), cx, keep, counted_waker: None }
    }
}

impl Attempt<'_> {
    /// Drops the future. A panic in the drop of its contents is ignored.
    #[cold]
    pub(crate) fn end(&mut self) {
        if let Some(future) = self.future.take() {
            contain::discard(future);
        }
    }
}

impl Drop for Attempt<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.future.is_some() {
            self.end();
        }
    }
}

impl Future for Attempt<'_> {
    type Output = Result<Finished, Box<Unfinished>>;

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

impl Attempt<'_> {
    /// Polls the future, and passes its result to `take`.
    ///
    /// `keep` is a parameter so that a caller with a constant compiles no encoding in.
    #[inline]
    pub(crate) fn poll_into(
        &mut self,
        cx: &mut std::task::Context<'_>,
        keep: Keep,
        take: impl FnOnce(Finished),
    ) -> Poll<Result<(), Box<Unfinished>>> {
        let this = self;
        let given = this.cx.was_given_answers();
        let counted = if given { Some(this.counted_waker(cx.waker())) } else { None };
        let cx = &mut std::task::Context::from_waker(counted.as_ref().unwrap_or(cx.waker()));
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
            if (given || this.cx.used_scratch().is_some())
                && let Some(fault) = this.fault(matches!(polled, Poll::Ready(Ok(_))))
            {
                return Poll::Ready(Err(Failed::Fault(fault)));
            }
            if keep == Keep::Nothing && !this.cx.prepares_later() {
                // Nothing else to do. Word by word, so that no load is longer than the store before it.
                match polled {
                    Poll::Ready(Ok(ErasedStep { writes, leave: Leave::ByEdges })) => {
                        take(Finished { writes, leave: Leave::ByEdges, encoded: None });
                        return Poll::Ready(Ok(()));
                    }
                    Poll::Ready(Ok(ErasedStep {
                        writes,
                        leave: Leave::By(Choice { exit, packet: None }),
                    })) => {
                        let leave = Leave::By(Choice { exit, packet: None });
                        take(Finished { writes, leave, encoded: None });
                        return Poll::Ready(Ok(()));
                    }
                    _ => {}
                }
            }
            let finished = |step| match step {
                Ok(step) if this.cx.prepares_later() => finish_cached(step, this.cx, keep),
                step => finish(step, || this.cx.stamp(), keep),
            };
            polled.map(|step| finished(step).map(take))
        }));
        match polled {
            Ok(Poll::Ready(Ok(()))) => Poll::Ready(Ok(())),
            Ok(Poll::Pending) if this.cx.used_scratch().is_none() => Poll::Pending,
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
    #[cold]
    fn fault(&self, returned: bool) -> Option<NodeError> {
        let fault = self.cx.used_scratch().and_then(TaskScratch::take_fault);
        if fault.is_some() || !returned || !self.cx.was_given_answers() {
            return fault;
        }
        let untaken = self.cx.untaken().or_else(|| self.cx.untaken_inside());
        untaken.map(|question| Untaken { question, how: "returned" }.into())
    }

    /// Returns the waker for the next poll of an attempt in which answers and timers have an order.
    #[cold]
    #[inline(never)]
    fn counted_waker(&mut self, waker: &Waker) -> Waker {
        let counted_waker = self.counted_waker.get_or_insert_with(|| CountedWaker::new(waker));
        counted_waker.set(waker);
        let counted = Waker::from(Arc::clone(counted_waker));
        self.cx.scratch().set_counted_waker(&counted, waker);
        counted
    }

    /// Returns `true` if nothing can wake the attempt, except answers and timers that wait for their turn.
    fn is_stuck(&self) -> bool {
        // Held by this attempt, by its scratch state and by the poll in progress.
        self.counted_waker.as_ref().is_some_and(|waker| waker.holders() <= 3 && !waker.was_woken())
    }

    #[cold]
    #[inline(never)]
    fn fail(&self, failed: Failed) -> Box<Unfinished> {
        self.fail_beside(failed, Vec::new())
    }

    /// Fails an attempt that was pending. If an answer could not be read, its other questions stay open too.
    fn fail_beside(&self, failed: Failed, others: Vec<OpenInterrupt>) -> Box<Unfinished> {
        let mut open = self.cx.used_scratch().map(TaskScratch::take_reopened).unwrap_or_default();
        if !open.is_empty() {
            open.extend(others);
            self.cx.memory(|memory| memory.asked = open.iter().map(|open| open.id.clone()).collect());
        }
        Box::new(Unfinished { failed: Some(failed), open, stop_point: None })
    }

    /// Ends a pending attempt that waits for an answer, sleeps, or has a fault that its node has not seen.
    #[cold]
    #[inline(never)]
    fn suspend<T>(&mut self) -> Poll<Result<T, Box<Unfinished>>> {
        let cx = self.cx;
        let Some(scratch) = cx.used_scratch() else { return Poll::Pending };
        if let Some(fault) = scratch.take_fault() {
            // Taken before the future is dropped, because dropping it withdraws the open interrupts.
            let open = scratch.take_open();
            self.end();
            return Poll::Ready(Err(self.fail_beside(Failed::Fault(fault), open)));
        }
        // Taken in any case: it concerns this poll only.
        let unblocked = scratch.take_unblocked();
        if scratch.is_busy() || unblocked {
            return Poll::Pending;
        }
        let given = cx.was_given_answers();
        if given && self.is_stuck() && cx.skips_timer() {
            return Poll::Pending;
        }
        let untaken = given && cx.has_untaken();
        // Taken before the future is dropped, because dropping it withdraws the open interrupts.
        let (open, stop_point, until) =
            (scratch.take_open(), scratch.take_stop_point(), scratch.sleeps_until());
        // A sleep does not suspend an attempt that may still ask for an answer.
        let asleep =
            || (!untaken || cx.is_stopping()) && until.is_some_and(|until| cx.goes_to_sleep(scratch, until));
        let ends = !open.is_empty() || stop_point.is_some() || asleep();
        if !ends && (!untaken || !self.is_stuck()) {
            return Poll::Pending;
        }
        if stop_point.is_none()
            && !(ends && open.is_empty())
            && let Some(question) = if untaken { cx.untaken() } else { None }
        {
            self.end();
            let how = if ends { "asked another question" } else { "waits for something else" };
            return Poll::Ready(Err(self.fail(Failed::Fault(Untaken { question, how }.into()))));
        }
        open.iter().for_each(|open| cx.shared.parent_run.ask(&open.id));
        cx.memory(|memory| {
            memory.asleep = until;
            memory.asked = open.iter().map(|open| open.id.clone()).collect();
        });
        self.end();
        Poll::Ready(Err(Box::new(Unfinished { failed: None, open, stop_point })))
    }
}

/// The attempt of a superstep's only task in a run in memory. It writes its result directly into its slot, without
/// passing it along.
pub(crate) struct LoneAttempt<'a> {
    attempt: Attempt<'a>,
    result: &'a mut Option<Finished>,
}

impl<'a> LoneAttempt<'a> {
    #[inline]
    pub(crate) fn new(future: StepFuture<'a>, cx: &'a Context, result: &'a mut Option<Finished>) -> Self {
        Self { attempt: Attempt::new(future, cx, Keep::Nothing), result }
    }
}

impl Future for LoneAttempt<'_> {
    type Output = Result<(), Box<Unfinished>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.attempt.poll_into(cx, Keep::Nothing, |finished| *this.result = Some(finished))
    }
}
