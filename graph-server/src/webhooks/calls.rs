use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use superstep::store::StoreError;
use tokio::task::JoinSet;

use super::deliver::{Delivery, deliver};
use super::places::{Place, Places, Source};
use super::waiting::Waiting;
use crate::app::App;
use crate::log;
use crate::protocol::{RunId, Timestamp};
use crate::records::WebhookRecord;

/// The number of calls that are under way at once.
const AT_ONCE: usize = 64;

/// The number of results that are read first. A look reads more while there are more that are due.
const BATCH: usize = 64;

/// The time for which looks rest after one that has passed over a result, for each such result. Without it, every new result
/// could have others read again, at once.
pub(super) const REST: Duration = Duration::from_micros(50);

/// The pauses before a failed call is made again. After the last, the result is given up.
const PAUSES: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(10),
    Duration::from_secs(60),
    Duration::from_secs(600),
    Duration::from_secs(3_600),
    Duration::from_secs(6 * 3_600),
];

/// The results that a look reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Those after the last one that was read: a call has ended, or a time has come.
    Next,
    /// Those that may be new too: of two results, the one that is due first may be stored after the other.
    New,
    /// All.
    All,
}

/// The time by which a result may be stored later than one that is due after it, so that a new one is found at once. Those that are
/// still later are found when all are read.
const LATE: Duration = Duration::from_secs(2);

/// The calls of webhooks that are under way.
pub(super) struct Calls {
    /// A task returns `false` if its end could not be noted.
    tasks: JoinSet<bool>,
    places: Places,
    waiting: Waiting,
    /// The last result that was read. All up to it are under way, wait, or are due later.
    read_to: Option<(Timestamp, RunId)>,
    /// The number of results that are due and that the last look has passed over.
    passed_over: u32,
    /// The time after which a call is made again that the store could not note.
    pause: Duration,
}

impl Calls {
    pub(super) fn new(pause: Duration) -> Self {
        Self {
            tasks: JoinSet::new(),
            places: Places::default(),
            waiting: Waiting::default(),
            read_to: None,
            passed_over: 0,
            pause,
        }
    }

    /// Starts the calls that are due, as far as there is room for them. Returns the time of the next one. `None` if there is
    /// none, or if it has to wait until a call ends.
    ///
    /// # Errors
    /// The store fails. Calls that were found before are under way. The next look reads all results.
    pub(super) async fn start_due(
        &mut self,
        app: &Arc<App>,
        now: Timestamp,
        look: Look,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.passed_over = 0;
        if look == Look::All {
            self.forget();
        }
        let started = self.start_found(app, now, look).await;
        if started.is_err() {
            self.forget();
        }
        started
    }

    /// Has the next look read all results.
    fn forget(&mut self) {
        self.waiting.clear();
        self.read_to = None;
    }

    async fn start_found(
        &mut self,
        app: &Arc<App>,
        now: Timestamp,
        look: Look,
    ) -> Result<Option<Timestamp>, StoreError> {
        while self.tasks.len() < AT_ONCE
            && let Some(waiter) = self.waiting.next(&self.places)
        {
            if let Some(webhook) = app.records.webhook(waiter.due, waiter.run).await? {
                self.start(app, webhook, now);
            }
        }
        let from = match look {
            Look::Next => self.read_to,
            Look::New => self.read_to.map(|(due, run)| (due.before(LATE), run)),
            Look::All => None,
        };
        let mut scan = app.records.webhooks(from, BATCH);
        // `false` after a result that is not remembered: the next look reads it again.
        let mut remembers = true;
        loop {
            let batch = scan.next().await?;
            if batch.is_empty() {
                return Ok(None);
            }
            for webhook in batch {
                if webhook.due > now {
                    return Ok(Some(webhook.due));
                }
                if self.tasks.len() >= AT_ONCE {
                    return Ok(None);
                }
                let key = (webhook.due, webhook.run_id);
                let sources = Source::of(&webhook);
                match self.places.full(&sources) {
                    Some(full) => {
                        self.passed_over = self.passed_over.saturating_add(1);
                        remembers &= self.waiting.add(&webhook, full);
                    }
                    None => self.start(app, webhook, now),
                }
                if remembers {
                    self.read_to = self.read_to.max(Some(key));
                }
            }
        }
    }

    /// Returns the time for which the next look has to wait, in proportion to the cost of the last one.
    pub(super) fn rest(&self) -> Duration {
        REST.saturating_mul(self.passed_over)
    }

    /// Starts a call, if it is not under way and there is a place for it.
    fn start(&mut self, app: &Arc<App>, webhook: WebhookRecord, now: Timestamp) {
        let Some(place) = self.places.take(&webhook) else {
            self.passed_over = self.passed_over.saturating_add(1);
            return;
        };
        let (app, run) = (Arc::clone(app), webhook.run_id);
        let attempt = webhook.attempts.saturating_add(1);
        self.spawn(place, async move { call(&app, webhook, now).await }, move || {
            log::webhook_failed(run, attempt, true);
        });
    }

    /// Spawns a call, which keeps its place until it has ended. A call that panics is made again, as one that the store could
    /// not note.
    fn spawn(
        &mut self,
        place: Place,
        call: impl Future<Output = bool> + Send + 'static,
        log_panic: impl FnOnce() + Send + 'static,
    ) {
        let pause = self.pause;
        self.tasks.spawn(async move {
            let _place = place;
            let noted = AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
                log_panic();
                false
            });
            if !noted {
                // It is still the first one that is due.
                tokio::time::sleep(pause).await;
            }
            noted
        });
    }

    /// Waits for the end of a call. Returns `false` if it could not be noted, and `None` if no call is under way.
    ///
    /// # Cancel safety
    /// A dropped call loses nothing.
    pub(super) async fn next_end(&mut self) -> Option<bool> {
        let noted = self.tasks.join_next().await?.unwrap_or(false);
        if !noted {
            // It is still due.
            self.forget();
        }
        Some(noted)
    }
}

/// Calls a webhook. Returns `false` if the store could not note the result.
async fn call(app: &App, webhook: WebhookRecord, now: Timestamp) -> bool {
    let body = webhook.body.to_string();
    let delivery = deliver(&webhook.url, body, app.options.private_webhooks).await;
    let pause = usize::try_from(webhook.attempts).ok().and_then(|attempts| PAUSES.get(attempts));
    let attempt = webhook.attempts + 1;
    match delivery {
        Delivery::Accepted => log::webhook_called(webhook.run_id, attempt),
        _ => log::webhook_failed(webhook.run_id, attempt, delivery == Delivery::Later && pause.is_some()),
    }
    let later = match (delivery, pause) {
        (Delivery::Later, Some(pause)) => {
            Some(WebhookRecord { due: now.after(*pause), attempts: webhook.attempts + 1, ..webhook.clone() })
        }
        _ => None,
    };
    app.records.replace_webhook(&webhook, later.as_ref()).await.map_err(log_failure).is_ok()
}

pub(super) fn log_failure(error: StoreError) {
    log::store_failed("StoreError", &error);
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[tokio::test]
    async fn panic_frees_the_place_of_its_call() {
        let mut calls = Calls::new(Duration::ZERO);
        let webhook = WebhookRecord {
            run_id: RunId::new(),
            user_id: None,
            url: "https://a.example/done".to_owned(),
            body: Value::Null,
            due: Timestamp::default(),
            attempts: 0,
        };
        for _ in 0..2 {
            let place = calls.places.take(&webhook).expect("a place");
            let (logged, was_logged) = tokio::sync::oneshot::channel();
            calls.spawn(place, async { panic!("in a call") }, || logged.send(()).unwrap());
            assert!(calls.places.take(&webhook).is_none());
            assert_eq!(calls.next_end().await, Some(false));
            assert_eq!(was_logged.await, Ok(()));
        }
        assert_eq!(calls.next_end().await, None);
    }
}
