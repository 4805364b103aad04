//! One superstep of a traced run in memory: the general case of [`Driver::step`], in a span.

use std::future::Future;
use std::pin::Pin;

use crate::engine::Driver;
use crate::engine::driver::YIELD_EVERY;
use crate::error::Error;

impl Driver {
    /// Runs one superstep in its span. Boxed so that a run without tracing does not carry it along.
    #[inline(never)]
    pub(in crate::engine) fn traced_step(
        &mut self,
    ) -> Pin<Box<dyn Future<Output = Result<bool, Error>> + Send + '_>> {
        Box::pin(async move {
            let Some(step) = self.enter() else { return self.rest() };
            if step.is_multiple_of(YIELD_EVERY) {
                tokio::task::yield_now().await;
            }
            let span = self.spans.superstep(step, self.tasks.len());
            let result = span.around(self.superstep_in_memory(step)).await;
            span.ended(&result);
            result
        })
    }

    async fn superstep_in_memory(&mut self, step: u64) -> Result<bool, Error> {
        self.boxed(step).await?;
        if !self.suspended.is_empty() {
            return Ok(self.stop());
        }
        let made = self.to_put(step);
        self.commit(step)?;
        if let Some(made) = made {
            self.put(made).await;
        }
        if let Some(events) = &self.events {
            events.values(step, &self.state).await;
        }
        Ok(true)
    }
}
