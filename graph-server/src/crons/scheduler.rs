use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Wakes the task that starts the runs of crons.
#[derive(Debug, Default)]
pub(crate) struct Scheduler {
    changed: Notify,
    stopped: AtomicBool,
}

impl Scheduler {
    /// Has the task look at the crons again, because one has changed.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Completes when a cron has changed, or when the scheduler stops.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Returns `true` if no more runs are started.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Starts no more runs.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.wake();
    }
}
