use std::time::Duration;

use tokio::time::Instant;

use crate::checkpoint::Fence;
use crate::error::{Error, ErrorKind, contained};
use crate::options::Stop;

use super::OnConflict;
use super::erased::ErasedThread;

/// The waiting of a run for its thread, by [`OnConflict`].
pub(super) struct ConflictWait {
    limit: Limit,
    delay: Duration,
    /// The number of refused first writes.
    attempts: usize,
    /// Ends the waiting early.
    stop: Option<Stop>,
}

/// The number of attempts to take over a thread from a run that was dropped during a write.
const MAX_ATTEMPTS: usize = 8;

enum Limit {
    /// The run does not wait.
    None,
    Until(Instant),
    /// The limit exceeds the range of the clock.
    Unlimited,
}

impl ConflictWait {
    pub(super) fn new(on_conflict: OnConflict, stop: Option<&Stop>) -> Self {
        let limit = match on_conflict {
            OnConflict::Reject => Limit::None,
            OnConflict::Wait(limit) => {
                Instant::now().checked_add(limit).map_or(Limit::Unlimited, Limit::Until)
            }
        };
        Self { limit, delay: Duration::from_millis(5), attempts: 0, stop: stop.cloned() }
    }

    /// Returns `true` if the options allow waiting.
    pub(super) fn is_allowed(&self) -> bool {
        !matches!(self.limit, Limit::None)
    }

    /// Waits for a short time. Returns `false` if the limit has been reached.
    pub(super) async fn wait_briefly(&mut self, thread: &ErasedThread) -> Result<bool, Error> {
        let left = match self.limit {
            Limit::None => Duration::ZERO,
            Limit::Until(until) => until.saturating_duration_since(Instant::now()),
            Limit::Unlimited => Duration::MAX,
        };
        if left.is_zero() {
            return Ok(false);
        }
        // Tokio panics if its timer is not enabled.
        let Ok(sleep) = contained(|| tokio::time::sleep(self.delay.min(left))) else {
            return Err(thread.graph.refuse(ErrorKind::Runtime(
                "waiting for a thread needs a tokio runtime with its timer enabled (`enable_time`)",
            )));
        };
        match &self.stop {
            None => sleep.await,
            Some(stop) => {
                if stop.unless_stopping(sleep).await.is_none() {
                    let kind = ErrorKind::Cancelled { step: None, unfinished: Vec::new() };
                    return Err(thread.graph.refuse(kind));
                }
            }
        }
        self.delay = (self.delay * 2).min(Duration::from_millis(250));
        Ok(true)
    }

    /// Returns `true` if a run should try again after its first write was refused with `error`.
    ///
    /// A retry is immediate if the previous run was dropped during a write, and follows a pause otherwise.
    pub(super) async fn retries_after(
        &mut self,
        thread: &ErasedThread,
        error: &Error,
        fence: Fence,
    ) -> Result<bool, Error> {
        let ErrorKind::Conflict(conflict) = error.kind() else { return Ok(false) };
        self.attempts += 1;
        // The epoch is unchanged, so the conflicting write belongs to the previous run.
        if conflict.found.epoch == fence.epoch && self.attempts < MAX_ATTEMPTS {
            return Ok(true);
        }
        self.wait_briefly(thread).await
    }

    /// Like [`retries_after`](Self::retries_after), for the start of a run with an id. The conflicting write may be the start
    /// of the same run, by a caller that was dropped since.
    pub(super) async fn retries_start_after(
        &mut self,
        thread: &ErasedThread,
        error: &Error,
        fence: Fence,
    ) -> Result<bool, Error> {
        if self.retries_after(thread, error, fence).await? {
            return Ok(true);
        }
        Ok(!self.is_allowed()
            && matches!(error.kind(), ErrorKind::Conflict(_))
            && self.attempts < MAX_ATTEMPTS)
    }
}
