use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::calls::{Calls, Look, log_failure};
use crate::app::App;
use crate::protocol::Timestamp;

/// The longest time between two looks at the results to send.
const PERIOD: Duration = Duration::from_secs(30);

/// The shortest time between two looks, if no call has ended.
const PAUSE: Duration = Duration::from_millis(20);

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

    /// Waits until this time, or until the sender stops. Returns `true` if there is a new result.
    async fn rest_until(&self, time: Instant) -> bool {
        let mut has_new = false;
        while !self.stopped.load(Ordering::Acquire) {
            tokio::select! {
                () = tokio::time::sleep_until(time) => break,
                () = self.changed.notified() => has_new = true,
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

/// Starts the task that calls webhooks. It ends with the server, after the calls that are under way.
pub(crate) fn start(app: &Arc<App>) {
    let (app, sender) = (Arc::downgrade(app), Arc::clone(&app.sender));
    tokio::spawn(async move {
        let mut calls = Calls::new(PERIOD);
        let (mut look, mut all_read) = (Look::All, Instant::now());
        loop {
            let Some(app) = Weak::upgrade(&app) else { break };
            if sender.stopped.load(Ordering::Acquire) {
                break;
            }
            if all_read.elapsed() >= PERIOD {
                look = Look::All;
            }
            if look == Look::All {
                all_read = Instant::now();
            }
            // A store that fails now is asked again after the period.
            let next =
                calls.start_due(&app, Timestamp::now(), look).await.map_err(log_failure).ok().flatten();
            drop(app);
            let rest = Instant::now() + calls.rest().min(PERIOD);
            let pause = next.map_or(PERIOD, |next| next.since(Timestamp::now()).clamp(PAUSE, PERIOD));
            look = tokio::select! {
                () = tokio::time::sleep(pause) => Look::Next,
                () = sender.changed.notified() => Look::New,
                Some(_) = calls.next_end() => Look::Next,
            };
            if sender.rest_until(rest).await {
                look = Look::New;
            }
        }
        while calls.next_end().await.is_some() {}
    });
}
