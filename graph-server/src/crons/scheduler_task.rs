use std::sync::{Arc, Weak};
use std::time::Duration;

use serde_json::Value;

use super::Schedule;
use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::auth::Identity;
use crate::log;
use crate::protocol::{CronId, OnCompletion, RunRequest, Timestamp, read_body};
use crate::records::CronRecord;
use crate::runs::{NewRun, RunThread, accept};

/// The longest time between two looks at the crons. The clock of the machine may be changed meanwhile.
const PERIOD: Duration = Duration::from_secs(30);

/// The shortest time between two passes.
const PAUSE: Duration = Duration::from_millis(20);

/// Starts the task that starts the runs of crons. It ends with the server.
pub(crate) fn start(app: &Arc<App>) {
    let (app, scheduler) = (Arc::downgrade(app), Arc::clone(&app.scheduler));
    tokio::spawn(async move {
        loop {
            let Some(app) = Weak::upgrade(&app) else { return };
            if scheduler.is_stopped() {
                return;
            }
            // A store that fails now is asked again in the next pass.
            let next = pass(&app, Timestamp::now()).await.ok().flatten();
            drop(app);
            let pause = next.map_or(PERIOD, |next| next.since(Timestamp::now()).clamp(PAUSE, PERIOD));
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = scheduler.changed() => {}
            }
        }
    });
}

/// Starts the runs that are due, one for each cron. Returns the time of the next one.
///
/// A cron whose times have passed while no server was there starts one run for all of them. A cron whose run cannot be
/// stored now stays due for the next pass, and the others go on.
///
/// # Errors
/// The store fails.
pub(super) async fn pass(app: &Arc<App>, now: Timestamp) -> ApiResult<Option<Timestamp>> {
    // All of them: those that fail stay the first ones, and would keep the others out of a part.
    for id in app.records.due_crons(now).await? {
        if app.scheduler.is_stopped() {
            break;
        }
        // It stays due.
        let _failed = run(app, id, now).await;
    }
    Ok(app.records.next_cron(now).await?)
}

/// Starts the run of a cron, if it is due.
async fn run(app: &Arc<App>, id: CronId, now: Timestamp) -> ApiResult<()> {
    let _lock = app.records.lock_cron(id).await;
    let Some(old) = app.records.cron(id).await? else { return Ok(()) };
    if old.due().is_none_or(|due| due > now) {
        return Ok(());
    }
    let mut new = old.clone();
    new.cron.next_run_date = next_run(&new, now);
    if old.cron.end_time.is_some_and(|end| end < now) {
        new.cron.next_run_date = None;
    } else {
        match start_run(app, &old, &new).await {
            // The run and the next time are stored together.
            Ok(()) => {
                log::cron_started(id);
                return Ok(());
            }
            // The store will work again, and the cron is still due.
            Err(error) if error.status.is_server_error() => {
                log::cron_failed(id, error.status.as_u16());
                return Err(error);
            }
            // The run is refused, for example because its thread is busy and it does not want to wait.
            Err(error) => log::cron_failed(id, error.status.as_u16()),
        }
    }
    if let Some(thread) = old.cron.thread_id {
        // Without its thread, no later run can start either.
        new.cron.enabled = app.records.thread(thread).await?.is_some();
    }
    Ok(app.records.store_cron(Some(&old), &new).await?)
}

/// Returns the time of the next run of a cron after a time.
pub(crate) fn next_run(record: &CronRecord, after: Timestamp) -> Option<Timestamp> {
    let cron = &record.cron;
    let schedule = Schedule::new(&cron.schedule, cron.timezone.as_deref()).ok()?;
    schedule.after(after).filter(|next| cron.end_time.is_none_or(|end| *next <= end))
}

/// Starts the run of a cron as its owner, and stores the cron as it is then in the same write.
async fn start_run(app: &Arc<App>, old: &CronRecord, new: &CronRecord) -> ApiResult<()> {
    let cron = &old.cron;
    let app = match &cron.user_id {
        Some(id) => {
            let owner = Identity::new(Arc::clone(id));
            app.seen_by(if old.sees_all { owner.sees_all() } else { owner })
        }
        None => Arc::clone(app),
    };
    let mut body = cron.payload.clone();
    body.insert("assistant_id".to_owned(), cron.assistant_id.to_string().into());
    let mut metadata = cron.metadata.clone();
    metadata.insert("cron_id".to_owned(), cron.cron_id.to_string().into());
    body.insert("metadata".to_owned(), metadata.into());
    let completion = cron.on_run_completed.unwrap_or(OnCompletion::Delete);
    body.insert("on_completion".to_owned(), completion.name().into());
    let request: RunRequest = read_body(Value::Object(body.clone()))
        .map_err(|problems| ApiError::unprocessable(problems.to_string()))?;
    let thread = cron.thread_id.map_or(RunThread::New, RunThread::Given);
    let cron = Some((old.clone(), new.clone()));
    accept(&app, NewRun { thread, request, body, transient: false, streams: false, cron }).await.map(drop)
}
