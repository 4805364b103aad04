use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;

use super::calls::{Calls, Look, log_failure};
use crate::app::App;
use crate::protocol::Timestamp;

/// The longest time between two looks at the results to send.
const PERIOD: Duration = Duration::from_secs(30);

/// The shortest time between two looks, if no call has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// Starts the task that calls webhooks. It ends with the server, after the calls that are under way.
pub(crate) fn start(app: &Arc<App>) {
    let (app, sender) = (Arc::downgrade(app), Arc::clone(&app.sender));
    tokio::spawn(async move {
        let mut calls = Calls::new(PERIOD);
        let (mut look, mut all_read) = (Look::All, Instant::now());
        loop {
            let Some(app) = Weak::upgrade(&app) else { break };
            if sender.is_stopped() {
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
                () = sender.changed() => Look::New,
                Some(_) = calls.next_end() => Look::Next,
            };
            if sender.rest_until(rest).await {
                look = Look::New;
            }
        }
        while calls.next_end().await.is_some() {}
    });
}
