use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use superstep::checkpoint::CheckpointId;
use superstep::run::Stop;
use tokio::sync::Notify;

use super::RunOutcome;
use crate::events::EventLog;
use crate::graphs::ServedEvent;
use crate::log::RunIds;
use crate::protocol::{CancelAction, RunId, RunStatus, ThreadId};
use crate::stream::RunEvents;

/// A run that this process has accepted and that has not ended, or whose events are kept.
#[derive(Debug)]
pub(crate) struct LiveRun {
    pub(crate) run_id: RunId,
    /// The thread. `None` for a run in memory.
    pub(crate) thread_id: Option<ThreadId>,
    /// The identity that has requested the run.
    pub(crate) user_id: Option<Arc<str>>,
    pub(crate) log: Arc<EventLog>,
    /// The names of the run in the log of the server.
    pub(crate) ids: RunIds,
    /// Stops the run.
    pub(crate) stop: Stop,
    /// The checkpoint from which this process continues the run, if an earlier process has stored some of it.
    pub(super) restored_at: OnceLock<CheckpointId>,
    inner: Mutex<Inner>,
    /// The conversion to events of the thread, if the run sends them.
    thread_events: Mutex<Option<Box<RunEvents>>>,
    outcome: OnceLock<Arc<RunOutcome>>,
    /// Wakes those who wait for the outcome.
    has_ended: Notify,
}

#[derive(Debug, Default)]
struct Inner {
    running: bool,
    left_thread: bool,
    cancel: Option<CancelAction>,
}

impl LiveRun {
    pub(super) fn new(ids: RunIds, user_id: Option<Arc<str>>, log: Arc<EventLog>, stop: Stop) -> Arc<Self> {
        let (run_id, thread_id) = (ids.run, ids.thread);
        let (inner, outcome, has_ended) = (Mutex::default(), OnceLock::new(), Notify::new());
        let (restored_at, thread_events) = (OnceLock::new(), Mutex::default());
        Arc::new(Self {
            run_id,
            thread_id,
            user_id,
            log,
            ids,
            stop,
            restored_at,
            inner,
            thread_events,
            outcome,
            has_ended,
        })
    }

    fn thread_events(&self) -> MutexGuard<'_, Option<Box<RunEvents>>> {
        self.thread_events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the run send events of its thread.
    pub(super) fn send_thread_events(&self, events: RunEvents) {
        *self.thread_events() = Some(Box::new(events));
    }

    /// The run continues a checkpoint.
    pub(super) fn continue_from(&self, base: CheckpointId) {
        if let Some(events) = &mut *self.thread_events() {
            events.continue_from(base);
        }
    }

    /// Sends an event of the run as events of its thread.
    pub(super) fn send_to_thread(&self, event: &ServedEvent) {
        if let Some(events) = &mut *self.thread_events() {
            events.convert(event);
        }
    }

    /// Returns the run and its subgraph calls as JSON, if the run sends events of its thread.
    pub(crate) fn tree(&self) -> Option<serde_json::Value> {
        self.thread_events().as_ref().map(|events| events.tree().json())
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the status.
    pub(crate) fn status(&self) -> RunStatus {
        match (self.outcome(), self.lock().running) {
            (Some(outcome), _) => outcome.status(),
            (None, true) => RunStatus::Running,
            (None, false) => RunStatus::Pending,
        }
    }

    /// Returns the outcome, if the run has ended.
    pub(crate) fn outcome(&self) -> Option<Arc<RunOutcome>> {
        self.outcome.get().cloned()
    }

    /// Waits for the outcome.
    ///
    /// # Cancel safety
    /// The call only reads.
    pub(crate) async fn ended(&self) -> Arc<RunOutcome> {
        loop {
            // Before the outcome is read, so that an end in between is not missed.
            let has_ended = self.has_ended.notified();
            if let Some(outcome) = self.outcome() {
                return outcome;
            }
            has_ended.await;
        }
    }

    /// Requests that the run is cancelled. Returns `false` if it has ended. A roll back is stronger than an interruption.
    pub(super) fn request_cancel(&self, action: CancelAction) -> bool {
        if self.outcome().is_some() {
            return false;
        }
        {
            let mut inner = self.lock();
            if inner.cancel != Some(CancelAction::Rollback) {
                inner.cancel = Some(action);
            }
        }
        self.stop.cancel();
        true
    }

    /// Returns the request to cancel the run.
    pub(super) fn cancel_requested(&self) -> Option<CancelAction> {
        self.lock().cancel
    }

    /// Notes that the run stores its end: the record of its thread does not depend on it any longer.
    pub(super) fn leave_thread(&self) {
        self.lock().left_thread = true;
    }

    /// Returns `true` if the run stores its end.
    pub(super) fn has_left_thread(&self) -> bool {
        self.lock().left_thread
    }

    pub(super) fn set_running(&self) {
        self.lock().running = true;
        if let Some(events) = &mut *self.thread_events() {
            events.begin();
        }
    }

    /// Ends a run that was not accepted, for those who have found it in the queue of its thread.
    pub(super) fn refuse(&self) {
        // Readers of the thread are not told about it.
        drop(self.thread_events().take());
        self.end(RunOutcome::Cancelled);
    }

    /// Ends the run and its events.
    pub(super) fn end(&self, outcome: RunOutcome) {
        if self.outcome.set(Arc::new(outcome)).is_ok() {
            self.has_ended.notify_waiters();
        }
        self.log.end();
        // After the outcome: a client that reads the end may continue the thread at once.
        let events = self.thread_events().take();
        if let (Some(events), Some(outcome)) = (events, self.outcome()) {
            events.end(&outcome);
        }
    }
}
