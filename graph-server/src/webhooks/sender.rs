use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use tokio::time::Instant;

/// Wakes the task that calls webhooks.
#[derive(Debug, Default)]
pub(crate) struct Sender {
    changed: Notify,
    stopped: AtomicBool,
}

impl Sender {
    /// Has the task look at the results to send, because there is a new one.
    pub(crate) fn wake(&self) {
        self.changed.notify_one();
    }

    /// Completes when there is a new result, or when the sender stops.
    pub(super) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }

    /// Returns `true` if no more webhooks are called.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Waits until this time, or until the sender stops. Returns `true` if there is a new result.
    pub(super) async fn rest_until(&self, time: Instant) -> bool {
        let mut has_new = false;
        while !self.is_stopped() {
            tokio::select! {
                () = tokio::time::sleep_until(time) => break,
                () = self.changed() => has_new = true,
            }
        }
        has_new
    }

    /// Calls no more webhooks.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.wake();
    }
}
