use std::error::Error as StdError;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use futures_util::future::select;

use crate::engine::at::At;
use crate::engine::context::{CacheResult, Due, ErasedContext, FailedAttempt, RetryProgress};
use crate::engine::graph::{CompiledNode, Handler, NodePolicy};
use crate::engine::task::attempt::Attempt;
use crate::engine::task::encoded::Keep;
use crate::engine::task::spanned::Spanned;
use crate::engine::task::task::{Failed, Finished, Unfinished};
use crate::erased::{ErasedState, TaskWrites};
use crate::error::{NodeFailure, Panic, contained, with_causes};
use crate::options::now;
use crate::plan::Task;
use crate::stream::{Events, TaskEvent};

use super::limited::{Limited, timer};

/// A task of a node with a policy: its attempts, one after the other, and the waits between them.
///
/// Its progress is in the data that the task keeps between attempts, so the next execution of the task continues from
/// there.
pub(crate) struct Guarded<'a> {
    pub(crate) node: &'a CompiledNode,
    pub(crate) policy: &'a NodePolicy,
    pub(crate) state: &'a dyn ErasedState,
    pub(crate) task: &'a Task,
    /// The task's context; each attempt gets its own.
    pub(crate) ctx: &'a dyn ErasedContext,
    pub(crate) keep: Keep,
    pub(crate) events: Option<&'a Events>,
}

pub(crate) type GuardedFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Finished, Box<Unfinished>>> + Send + 'a>>;

impl Guarded<'_> {
    pub(crate) async fn run(self) -> Result<Finished, Box<Unfinished>> {
        match &self.policy.cache {
            None => self.tried().await,
            Some(policy) => self.cached(policy).await,
        }
    }

    pub(crate) async fn tried(&self) -> Result<Finished, Box<Unfinished>> {
        loop {
            // An older program may have stored a failure for a handler that this program does not have.
            if let Some(handler) = &self.policy.handler
                && let Some(failure) = self.retries(|retries| retries.handling.clone())
            {
                return self.handle(handler, failure).await;
            }
            self.wait().await?;
            let ctx = self.next_attempt();
            let unfinished = match self.attempt(&*ctx).await {
                Ok(finished) => return Ok(finished),
                Err(unfinished) => *unfinished,
            };
            if self.policy.cache.is_some() {
                // The attempt failed after the node returned: its result is unusable.
                self.made(CacheResult::None);
            }
            let attempt = ctx.at.attempt();
            let noted = |failed: Failed| {
                let failure = failed.into_failure(self.ctx.node(), self.ctx.at.step, attempt);
                failure.of(self.ctx.at.task(), self.task.packet.as_ref())
            };
            match unfinished.failed {
                // A suspended attempt is not counted.
                None => {
                    self.retries(|retries| retries.attempt = attempt.saturating_sub(1));
                    return Err(Box::new(unfinished));
                }
                // An attempt with open interrupts is not retried here: the task runs again with the answers.
                Some(failed @ (Failed::Error(_) | Failed::Panic(_))) if unfinished.open.is_empty() => {
                    self.after_failure(noted(failed)).await?;
                }
                Some(failed) => return Err(self.final_failure(noted(failed), unfinished.open)),
            }
        }
    }

    /// Accesses the task's progress.
    fn retries<T>(&self, look: impl FnOnce(&mut RetryProgress) -> T) -> T {
        self.ctx.memory(|memory| look(&mut memory.retries))
    }

    /// Waits until the next attempt is due.
    ///
    /// Like a durable sleep, a long wait suspends the task if the run suspends long sleeps.
    async fn wait(&self) -> Result<(), Box<Unfinished>> {
        let Some(due) = self.retries(|retries| retries.due) else { return Ok(()) };
        let remaining = due.remaining(now());
        if remaining.is_zero() {
            // Yields so that a node that fails immediately, again and again, does not starve other tasks.
            tokio::task::yield_now().await;
        } else {
            let timer = timer(remaining)?;
            if self.ctx.shared.steps.is_some() && !self.suspends_until(due.at) {
                select(pin!(timer), pin!(self.ctx.stopping())).await;
            } else if self.ctx.shared.steps.is_none() {
                timer.await;
            }
            if !due.remaining(now()).is_zero() && self.suspends_until(due.at) {
                self.ctx.memory(|memory| memory.asleep = Some(due.at));
                return Err(Box::new(Unfinished { failed: None, open: Vec::new(), stop_point: None }));
            }
        }
        self.retries(|retries| retries.due = None);
        Ok(())
    }

    /// Returns `true` if the task is suspended instead of waiting until `due`.
    fn suspends_until(&self, due: SystemTime) -> bool {
        self.ctx.goes_to_sleep(self.ctx.scratch(), due)
    }

    fn next_attempt(&self) -> Box<dyn ErasedContext> {
        let attempt = self.retries(|retries| {
            retries.attempt = self.ctx.at.attempt().max(retries.attempt.saturating_add(1));
            retries.attempt
        });
        self.ctx.at(At { attempt, is_cached: self.policy.cache.is_some(), ..self.ctx.at.get() })
    }

    async fn attempt(&self, ctx: &dyn ErasedContext) -> Result<Finished, Box<Unfinished>> {
        let span = ctx.shared.spans.node(ctx.node(), ctx.at.get());
        let call = || self.node.run.call(self.state, self.task.packet.as_ref(), ctx, TaskWrites::default());
        let mut future = span.within(call);
        if let Some(policy) = &self.policy.cache {
            future = self.watched(policy, future);
        }
        let attempt = Attempt::new(future, ctx, self.keep);
        Spanned::new(span, Limited::new(attempt, ctx, &self.policy.limits)?).await
    }

    /// Handles a failure: schedules a retry, calls the error handler, or fails the task.
    async fn after_failure(&self, failure: NodeFailure) -> Result<(), Box<Unfinished>> {
        let failures = self.retries(|retries| retries.failures.saturating_add(1));
        let wait = contained(|| {
            let fitting = self.policy.limits.retries.iter().find(|retry| retry.applies_to(&failure));
            fitting.and_then(|retry| retry.wait_after(failures, &failure))
        });
        let failure = match wait {
            Ok(Some(wait)) => return self.again(&failure, failures, wait).await.map_err(Into::into),
            Ok(None) => failure,
            Err(panic) => panicked(failure, panic),
        };
        if self.policy.handler.is_none() {
            return Err(self.final_failure(failure, Vec::new()));
        }
        self.hand_over(Arc::new(failure)).await.map_err(Into::into)
    }

    /// Schedules another attempt after a wait.
    async fn again(&self, failure: &NodeFailure, failures: u32, wait: Duration) -> Result<(), Failed> {
        let retries = self.retries(|retries| {
            (retries.failures, retries.due) = (failures, Some(Due::after(wait, now())));
            retries.clone()
        });
        let At { step, task, .. } = self.ctx.at.get();
        if let Some(events) = self.events {
            let (node, error) = (Arc::from(self.ctx.node()), with_causes(failure));
            let event = TaskEvent::Retry { attempt: failure.attempt, error, wait };
            events.task(step, task, node, event).await;
        }
        self.store(failure, retries).await
    }

    /// Stores the task's progress on the run's thread.
    async fn store(&self, failure: &NodeFailure, retries: RetryProgress) -> Result<(), Failed> {
        match &self.ctx.shared.steps {
            None => Ok(()),
            Some(log) => {
                log.tried(self.ctx.at.task(), FailedAttempt { failure, retries }).await.map_err(Failed::Fault)
            }
        }
    }

    /// Hands the failure to the node's error handler.
    async fn hand_over(&self, failure: Arc<NodeFailure>) -> Result<(), Failed> {
        let retries = self.retries(|retries| {
            (retries.failures, retries.due, retries.handling) = (0, None, Some(Arc::clone(&failure)));
            retries.clone()
        });
        self.store(&failure, retries).await
    }

    /// Runs the error handler in place of the node.
    async fn handle(
        &self,
        handler: &Handler,
        failure: Arc<NodeFailure>,
    ) -> Result<Finished, Box<Unfinished>> {
        let At { step, task, .. } = self.ctx.at.get();
        if let Some(events) = self.events {
            let event = TaskEvent::Handled { error: with_causes(&*failure) };
            events.task(step, task, Arc::from(self.ctx.node()), event).await;
        }
        let mut ctx = self.ctx.at(At { attempt: failure.attempt, ..self.ctx.at.get() });
        ctx.handling(Arc::clone(&failure));
        let span = ctx.shared.spans.node(ctx.node(), ctx.at.get());
        let call = || handler.run.call(self.state, self.task.packet.as_ref(), &*ctx, TaskWrites::default());
        let attempt = Attempt::new(span.within(call), &ctx, self.keep);
        let unfinished = match Spanned::new(span, attempt).await {
            Ok(mut finished) => {
                self.retries(|retries| retries.handling = None);
                finished.leave.count_from(handler.exits_from);
                return Ok(finished);
            }
            Err(unfinished) => *unfinished,
        };
        let Unfinished { failed, open, stop_point } = unfinished;
        let failed = failed.map(|failed| {
            self.retries(|retries| retries.handling = None);
            let own = failed
                .into_failure(self.ctx.node(), step, failure.attempt)
                .of(task, self.task.packet.as_ref());
            Failed::Noted(Box::new(NodeFailure { handled: Some(failure), ..own }))
        });
        Err(Box::new(Unfinished { failed, open, stop_point }))
    }

    /// Returns the task's final failure, and resets the counters for the next execution.
    pub(crate) fn final_failure(
        &self,
        failure: NodeFailure,
        open: Vec<crate::interrupt::OpenInterrupt>,
    ) -> Box<Unfinished> {
        self.retries(|retries| (retries.failures, retries.due) = (0, None));
        Box::new(Unfinished { failed: Some(Failed::Noted(Box::new(failure))), open, stop_point: None })
    }
}

/// Returns the failure of a node whose retry policy panicked while it examined the failure.
fn panicked(failure: NodeFailure, panic: Panic) -> NodeFailure {
    let NodeFailure { error, .. } = failure;
    NodeFailure { error: Box::new(PolicyPanicked { panic, error }), ..failure }
}

/// The retry policy panicked.
#[derive(Debug, thiserror::Error)]
#[error("the node's retry policy panicked (`{panic}`) while it examined this failure")]
struct PolicyPanicked {
    panic: Panic,
    #[source]
    error: Box<dyn StdError + Send + Sync>,
}
