use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::time::{Instant, Sleep};

use crate::engine::context::Context;
use crate::engine::task::attempt::Attempt;
use crate::engine::task::spanned::DropsFuture;
use crate::engine::task::task::{Failed, Finished, Unfinished};
use crate::error::{NodeError, contained};
use crate::policy::{ResolvedPolicy, TimedOut};

/// An attempt with an attempt timeout, an idle timeout, or both.
pub(crate) struct Limited<'a> {
    attempt: Attempt<'a>,
    cx: &'a Context,
    whole: Option<Limit>,
    idle: Option<Limit>,
    /// The number of heartbeats seen so far.
    seen: u64,
}

struct Limit {
    limit: Duration,
    sleep: Pin<Box<Sleep>>,
}

impl Limit {
    fn new(limit: Option<Duration>) -> Result<Option<Self>, Failed> {
        limit.map(|limit| Ok(Self { limit, sleep: Box::pin(timer(limit)?) })).transpose()
    }

    fn is_over(&mut self, cx: &mut std::task::Context<'_>) -> bool {
        self.sleep.as_mut().poll(cx).is_ready()
    }

    fn again(&mut self) {
        let now = Instant::now();
        self.sleep.as_mut().reset(now.checked_add(self.limit).unwrap_or(now));
    }
}

/// Creates a tokio timer. Tokio panics if the runtime has no timer; that becomes an error.
pub(crate) fn timer(wait: Duration) -> Result<Sleep, Failed> {
    contained(|| tokio::time::sleep(wait)).map_err(|_| Failed::Fault(NodeError::msg(NO_TIMER)))
}

/// The error of a run whose policy has to wait on a runtime without a timer.
pub(crate) const NO_TIMER: &str =
    "the policy of a node needs a tokio runtime with its timer enabled (`enable_time`)";

impl<'a> Limited<'a> {
    pub(crate) fn new(
        attempt: Attempt<'a>,
        cx: &'a Context,
        policy: &ResolvedPolicy,
    ) -> Result<Self, Failed> {
        let idle = Limit::new(policy.idle_timeout)?;
        if idle.is_some() {
            // Creates the scratch state, which counts heartbeats.
            cx.scratch();
        }
        Ok(Self { attempt, cx, whole: Limit::new(policy.timeout)?, idle, seen: 0 })
    }

    /// Returns the limit that the pending attempt has exceeded, if any.
    fn late(&mut self, cx: &mut std::task::Context<'_>) -> Option<TimedOut> {
        if let Some(whole) = &mut self.whole
            && whole.is_over(cx)
        {
            return Some(TimedOut::Attempt { limit: whole.limit });
        }
        let idle = self.idle.as_mut()?;
        let beats = self.cx.scratch().beats();
        if beats != std::mem::replace(&mut self.seen, beats) {
            idle.again();
        }
        idle.is_over(cx).then_some(TimedOut::Idle { limit: idle.limit })
    }
}

impl DropsFuture for Limited<'_> {
    fn end(&mut self) {
        self.attempt.end();
    }
}

impl Future for Limited<'_> {
    type Output = Result<Finished, Box<Unfinished>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut std::task::Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Poll::Ready(result) = Pin::new(&mut this.attempt).poll(cx) {
            return Poll::Ready(result);
        }
        match this.late(cx) {
            None => Poll::Pending,
            Some(late) => {
                this.attempt.end();
                Poll::Ready(Err(Failed::Error(late.into()).into()))
            }
        }
    }
}
