//! The loop over supersteps: the only one, for runs in memory and on threads, traced or not.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use crate::engine::at::At;
use crate::engine::journal::Journal;
use crate::engine::task::{Attempt, Keep, LoneAttempt};
use crate::error::Error;

use super::driver::Driver;

/// A run yields to the runtime after this many supersteps. Otherwise a run whose nodes are always ready could not be
/// cancelled or timed out.
const YIELD_EVERY: u64 = 512;

impl Driver {
    /// Runs one superstep. Returns `false` if nothing is left to run, or if the run stopped at a
    /// [`StopPoint`](crate::engine::context::StopPoint).
    ///
    /// After an error, and after the future was dropped, the state is that of the last applied superstep. The next
    /// call runs the tasks that have not finished.
    pub(crate) async fn step(&mut self) -> Result<bool, Error> {
        self.advance(true).await
    }

    /// Runs supersteps until nothing is left to run, or until the run stops. With `once`, runs at most one, and returns
    /// `true` if it did.
    ///
    /// A superstep with a single task in memory, without open interrupts, is executed in place. All others go through
    /// [`whole_superstep`](Self::whole_superstep).
    pub(crate) async fn advance(&mut self, once: bool) -> Result<bool, Error> {
        let in_place = self.persist.is_none() && !self.is_observed();
        let chains = self.returned.is_none();
        loop {
            let Some(step) = self.enter() else {
                let ended = self.end_without_superstep();
                return if self.persist.is_some() { self.stored(ended).await } else { ended };
            };
            if step.is_multiple_of(YIELD_EVERY) {
                tokio::task::yield_now().await;
            }
            if in_place
                && self.suspended.is_empty()
                && let ([task], [slot @ None], [attempts]) =
                    (self.tasks.as_slice(), self.results.as_mut_slice(), self.attempts.as_mut_slice())
                && let Some(node) = self.graph.nodes.get(task.node).filter(|node| node.policy.is_none())
            {
                *attempts = attempts.saturating_add(1);
                let cx = self.ctx.cx_mut();
                cx.clear_scratch();
                let remaining = self.last_step - step;
                let at =
                    At { node: task.node, task: 0, step, remaining, attempt: *attempts, is_cached: false };
                cx.at = at.into();
                let spare = self.spares.take();
                let future = node.run.call(&*self.state, task.packet.as_ref(), &*self.ctx, spare);
                if let Err(unfinished) = LoneAttempt::new(future, &self.ctx, slot).await {
                    return self.lone_unfinished(*unfinished, step);
                }
                if !(chains && self.commit_alone(step)?) {
                    self.commit(step)?;
                }
            } else if !self.whole_superstep(step).await? {
                return Ok(false);
            }
            if once {
                return Ok(true);
            }
        }
    }

    /// Returns `true` if something beside the tasks takes part in a superstep: listeners, spans, a timeout or a stop.
    fn is_observed(&self) -> bool {
        self.events.is_some()
            || self.options.superstep_timeout.is_some()
            || self.options.stop.is_some()
            || self.spans.is_on()
    }

    /// Begins the next superstep and returns its number; `None` if no superstep may begin (see
    /// [`end_without_superstep`](Self::end_without_superstep)).
    #[inline]
    fn enter(&mut self) -> Option<u64> {
        if self.stop_point.is_some() {
            self.leave_stop_point();
        }
        if self.tasks.is_empty()
            || (self.breakpoints.is_some() && self.stops_at_breakpoint())
            || (self.options.stop.is_some() && self.is_asked_to_stop())
            || self.step >= self.last_step
        {
            return None;
        }
        Some(self.step + 1)
    }

    /// Runs one superstep in its span, and stores how it ended. Boxed so that the superstep of a single task in memory
    /// does not carry it along.
    #[inline(never)]
    fn whole_superstep(
        &mut self,
        step: u64,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        Box::pin(async move {
            let remaining = self.last_step - step;
            self.ctx.at =
                At { node: usize::MAX, task: 0, step, remaining, attempt: 1, is_cached: false }.into();
            self.runs_again();
            let span = self.spans.superstep(step, self.tasks.len());
            let result = span.instrument(self.execute_and_commit(step)).await;
            span.ended(&result);
            self.store_end(result).await
        })
    }

    async fn execute_and_commit(&mut self, step: u64) -> Result<bool, Error> {
        let journal = self.persist.as_ref().map(|persist| Arc::clone(&persist.journal));
        match &journal {
            Some(journal) if self.is_alone() => {
                if let Some(stopped) = self.run_alone(journal, step).await? {
                    return Ok(stopped);
                }
            }
            Some(journal) => Journal::beside(journal, self.boxed(step)).await?,
            None => self.boxed(step).await?,
        }
        if !self.suspended.is_empty() {
            return Ok(self.stop());
        }
        let made = self.to_put(step);
        self.commit(step)?;
        self.store().await?;
        if let Some(made) = made {
            self.put(made).await;
        }
        if let Some(events) = &self.events {
            events.values(step, &self.state).await;
        }
        Ok(true)
    }

    /// Returns `true` if a single attempt is all that there is to execute, and it has no open interrupts to keep.
    fn is_alone(&self) -> bool {
        matches!((self.tasks.as_slice(), self.results.as_slice()), ([task], [None]) if !self.graph.has_policy(task.node))
            && self.suspended.is_empty()
            && !self.is_observed()
    }

    /// Runs the attempt of a superstep's only task on a thread. Returns the result of the superstep if it ends here.
    async fn run_alone(&mut self, journal: &Mutex<Journal>, step: u64) -> Result<Option<bool>, Error> {
        let keep = self.persist.as_ref().map_or(Keep::FieldChanges, |persist| persist.kept_of_lone_task());
        if let ([task], [slot], [attempts]) =
            (self.tasks.as_slice(), self.results.as_mut_slice(), self.attempts.as_mut_slice())
            && let Some(node) = self.graph.nodes.get(task.node)
        {
            self.ctx.clear_scratch();
            *attempts = attempts.saturating_add(1);
            let at = self.ctx.at.get();
            self.ctx.at.move_to(At { node: task.node, attempt: *attempts, ..at });
            let spare = self.spares.take();
            let future = node.run.call(&*self.state, task.packet.as_ref(), &*self.ctx, spare);
            match Journal::beside(journal, Attempt::new(future, &self.ctx, keep)).await {
                Ok(finished) => *slot = Some(finished),
                Err(unfinished) => return self.lone_unfinished(*unfinished, step).map(Some),
            }
        }
        Ok(None)
    }

    /// Stores the end of a run on a thread at which no superstep begins. Boxed so that a run in memory does not carry it
    /// along.
    #[cold]
    #[inline(never)]
    fn stored(
        &mut self,
        ended: Result<bool, Error>,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        self.ends_with_status();
        Box::pin(self.store_end(ended))
    }

    /// Stores the failure or the stop with which a superstep on a thread ended. Both in boxes, for which other supersteps
    /// have no room.
    async fn store_end(&mut self, ended: Result<bool, Error>) -> Result<bool, Error> {
        match ended {
            _ if self.persist.is_none() => ended,
            Err(error) => Err(Box::pin(self.store_failure(error)).await),
            Ok(false) if self.stop_point.is_some() => Box::pin(self.store_stop_point()).await,
            Ok(_) => ended,
        }
    }
}
