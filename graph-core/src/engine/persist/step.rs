//! One superstep of a run on a thread, with the journal written alongside.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::engine::Driver;
use crate::engine::attempt::Attempt;
use crate::engine::driver::{YIELD_EVERY, forget};
use crate::engine::encoded::Keep;
use crate::error::Error;

use super::journal::Journal;

impl Driver {
    /// Runs one superstep. Boxed so that a run in memory does not carry it along.
    #[inline(never)]
    pub(in crate::engine) fn step_on_thread(
        &mut self,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        Box::pin(async move {
            match self.superstep_on_thread().await {
                Err(error) => Err(self.store_failure(error).await),
                Ok(false) if self.halt.is_some() => self.store_halt().await,
                result => result,
            }
        })
    }

    async fn superstep_on_thread(&mut self) -> Result<bool, Error> {
        let Some(step) = self.enter() else {
            self.ends_with_status();
            return self.rest();
        };
        self.runs_again();
        if step.is_multiple_of(YIELD_EVERY) {
            tokio::task::yield_now().await;
        }
        let span = self.spans.superstep(step, self.tasks.len());
        let result = span.around(self.stored_superstep(step)).await;
        span.ended(&result);
        result
    }

    async fn stored_superstep(&mut self, step: u64) -> Result<bool, Error> {
        let journal = self.persist.as_ref().map(|persist| Arc::clone(&persist.journal));
        let Some(journal) = journal else { return Ok(false) };
        let observed = self.events.is_some()
            || self.options.superstep_timeout.is_some()
            || self.options.stop.is_some()
            || self.spans.is_on();
        let keep = match &self.persist {
            Some(persist) if persist.pieces.keeps_writes() => Keep::All,
            _ => Keep::Pieces,
        };
        match (self.tasks.as_slice(), self.results.as_mut_slice(), self.attempts.as_mut_slice()) {
            ([task], [slot], [attempts]) if !observed && !self.graph.has_policy(task.node) => {
                if let (None, Some(node)) = (&slot, self.graph.nodes.get(task.node)) {
                    self.ctx.clear_desk();
                    forget(&mut self.suspended);
                    *attempts += 1;
                    (self.ctx.at.node, self.ctx.at.attempt) = (task.node, *attempts);
                    let spare = self.spares.pop().unwrap_or_default();
                    let future = node.run.call(&*self.state, task.packet.as_ref(), &*self.ctx, spare);
                    let attempt = Attempt::new(future, &self.ctx, keep);
                    match Journal::beside(&journal, attempt).await {
                        Ok(finished) => *slot = Some(finished),
                        Err(unfinished) => return self.lone_unfinished(*unfinished, step),
                    }
                }
            }
            _ => {
                Journal::beside(&journal, self.boxed(step)).await?;
                if !self.suspended.is_empty() {
                    return Ok(self.stop());
                }
            }
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
}
