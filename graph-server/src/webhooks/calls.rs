use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use superstep::store::StoreError;
use tokio::task::JoinSet;

use super::deliver::{Delivery, deliver};
use crate::app::App;
use crate::log;
use crate::protocol::{RunId, Timestamp};
use crate::records::WebhookRecord;

/// The number of calls that are under way at once.
const AT_ONCE: usize = 64;

/// The number of calls that are under way to one host, and for one identity. The others wait, and those after them do not.
pub(super) const AT_ONCE_EACH: usize = 8;

/// The number of results that are read first. A look reads more while those that it has read have to wait.
const BATCH: usize = 64;

/// The time for which looks rest after one that has passed over a result, for each such result. Without it, every call that
/// ends would read all results that have to wait again, at once.
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

/// The calls of webhooks that are under way.
pub(super) struct Calls {
    tasks: JoinSet<Call>,
    runs: HashSet<RunId>,
    sources: HashMap<Source, usize>,
    /// The number of results that are due and that the last look has passed over.
    passed_over: u32,
    /// The time after which a call is made again that the store could not note.
    pause: Duration,
}

/// A call that is under way, or has ended.
struct Call {
    run: RunId,
    sources: Vec<Source>,
    noted: bool,
}

/// A part of the calls that could slow others down.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Source {
    /// The calls to a host, which may not respond.
    Host(String),
    /// The calls for an identity, which may use many hosts.
    Identity(Arc<str>),
}

impl Source {
    fn of(webhook: &WebhookRecord) -> Vec<Self> {
        let host = Url::parse(&webhook.url).ok().and_then(|url| Some(Self::Host(url.host_str()?.to_owned())));
        host.into_iter().chain(webhook.user_id.clone().map(Self::Identity)).collect()
    }
}

impl Calls {
    pub(super) fn new(pause: Duration) -> Self {
        Self { tasks: JoinSet::new(), runs: HashSet::new(), sources: HashMap::new(), passed_over: 0, pause }
    }

    /// Starts the calls that are due, as far as there is room for them. Returns the time of the next one. `None` if there is
    /// none, or if it has to wait until a call ends.
    ///
    /// # Errors
    /// The store fails. Calls that were found before are under way.
    pub(super) async fn start_due(
        &mut self,
        app: &Arc<App>,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        self.passed_over = 0;
        let mut scan = app.records.webhooks(BATCH);
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
                self.start(app, webhook, now);
            }
        }
    }

    /// Returns the time for which the next look has to wait, in proportion to the cost of the last one.
    pub(super) fn rest(&self) -> Duration {
        REST.saturating_mul(self.passed_over)
    }

    /// Starts a call, if it is not under way and its sources have room for it.
    fn start(&mut self, app: &Arc<App>, webhook: WebhookRecord, now: Timestamp) {
        let (run, sources) = (webhook.run_id, Source::of(&webhook));
        let is_full = |source| self.sources.get(source).is_some_and(|count| *count >= AT_ONCE_EACH);
        if sources.iter().any(is_full) || !self.runs.insert(run) {
            self.passed_over = self.passed_over.saturating_add(1);
            return;
        }
        for source in &sources {
            *self.sources.entry(source.clone()).or_default() += 1;
        }
        let (app, pause) = (Arc::clone(app), self.pause);
        self.tasks.spawn(async move {
            let noted = call(&app, webhook, now).await;
            drop(app);
            if !noted {
                // It is still the first one that is due.
                tokio::time::sleep(pause).await;
            }
            Call { run, sources, noted }
        });
    }

    /// Waits for the end of a call. Returns `false` if the store could not note it, and `None` if no call is under way.
    ///
    /// # Cancel safety
    /// A dropped call loses nothing.
    pub(super) async fn next_end(&mut self) -> Option<bool> {
        let Ok(Call { run, sources, noted }) = self.tasks.join_next().await? else { return Some(false) };
        self.runs.remove(&run);
        for source in sources {
            match self.sources.get_mut(&source) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.sources.remove(&source)),
            }
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
