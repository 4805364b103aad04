use std::time::Duration;

use tokio::time::Instant;

use crate::checkpoint::Fence;
use crate::engine::contained;
use crate::error::{Error, ErrorKind};
use crate::run::Stop;
use crate::state::GraphState;

use super::{OnConflict, Thread};

/// How long a run still waits for its thread.
pub(super) struct Patience {
    limit: Limit,
    pause: Duration,
    /// How often it has tried to begin.
    tries: usize,
    /// What ends its waiting.
    stop: Option<Stop>,
}

/// How often a run tries to take its thread over from one that was dropped in the middle of a write.
const TRIES: usize = 8;

enum Limit {
    /// It does not wait.
    Now,
    Until(Instant),
    /// It waits for longer than the clock can tell.
    Never,
}

impl Patience {
    pub(super) fn new(on_conflict: OnConflict, stop: Option<&Stop>) -> Self {
        let limit = match on_conflict {
            OnConflict::Reject => Limit::Now,
            OnConflict::Wait(limit) => Instant::now().checked_add(limit).map_or(Limit::Never, Limit::Until),
        };
        Self { limit, pause: Duration::from_millis(5), tries: 0, stop: stop.cloned() }
    }

    /// Whether it waits at all.
    pub(super) fn waits(&self) -> bool {
        !matches!(self.limit, Limit::Now)
    }

    /// Waits a little; `false` when it has waited long enough.
    pub(super) async fn wait<S: GraphState, D: Send + Sync + 'static>(
        &mut self,
        thread: &Thread<S, D>,
    ) -> Result<bool, Error> {
        let left = match self.limit {
            Limit::Now => Duration::ZERO,
            Limit::Until(until) => until.saturating_duration_since(Instant::now()),
            Limit::Never => Duration::MAX,
        };
        if left.is_zero() {
            return Ok(false);
        }
        // Tokio panics where its timer is not enabled.
        let Ok(pause) = contained(|| tokio::time::sleep(self.pause.min(left))) else {
            return Err(thread.graph.refuse(ErrorKind::Runtime(
                "waiting for a thread needs a tokio runtime with its timer enabled (`enable_time`)",
            )));
        };
        match &self.stop {
            None => pause.await,
            Some(stop) => {
                if stop.unless_stopping(pause).await.is_none() {
                    let kind = ErrorKind::Cancelled { step: None, unfinished: Vec::new() };
                    return Err(thread.graph.refuse(kind));
                }
            }
        }
        self.pause = (self.pause * 2).min(Duration::from_millis(250));
        Ok(true)
    }

    /// Whether a run whose first write was refused with this is to try again: at once, behind a run that was dropped in the
    /// middle of a write; after a while, behind others.
    pub(super) async fn tries_again<S: GraphState, D: Send + Sync + 'static>(
        &mut self,
        thread: &Thread<S, D>,
        error: &Error,
        fence: Fence,
    ) -> Result<bool, Error> {
        let ErrorKind::Conflict(conflict) = error.kind() else { return Ok(false) };
        self.tries += 1;
        // What was overtaken was overtaken by a write of the run before it.
        if conflict.found.epoch == fence.epoch && self.tries < TRIES {
            return Ok(true);
        }
        self.wait(thread).await
    }

    /// The same for the beginning of a run that has an id: what has come in between may be the beginning of that very run,
    /// by somebody who was dropped meanwhile.
    pub(super) async fn begins_again<S: GraphState, D: Send + Sync + 'static>(
        &mut self,
        thread: &Thread<S, D>,
        error: &Error,
        fence: Fence,
    ) -> Result<bool, Error> {
        if self.tries_again(thread, error, fence).await? {
            return Ok(true);
        }
        Ok(!self.waits() && matches!(error.kind(), ErrorKind::Conflict(_)) && self.tries < TRIES)
    }
}
