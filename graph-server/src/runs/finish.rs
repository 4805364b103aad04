use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use superstep::checkpoint::CheckpointId;

use super::outcome::USER_INTERRUPT;
use super::{LiveRun, RunOutcome, shown};
use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::graphs::{AnyGraph, RunFailure};
use crate::log;
use crate::protocol::{CancelAction, RunError, ThreadId, ThreadStatus, Timestamp};
use crate::records::{RunRecord, ThreadRecord, WebhookRecord};
use crate::stream::{run_done, state_update};
use crate::thread_status;

/// The end of a run.
pub(super) struct Ended {
    pub(super) outcome: RunOutcome,
    /// `false` if the run was cancelled before its turn came. Its thread is as before.
    pub(super) began: bool,
    /// The latest checkpoint of the thread before the run, if it is known.
    pub(super) base: Option<CheckpointId>,
    pub(super) temporary: bool,
    /// The address that gets the result of the run.
    pub(super) webhook: Option<String>,
    /// The time at which this process has begun to execute the run.
    pub(super) since: Instant,
}

/// Stores the end of a run, and tells those who wait for it.
pub(super) async fn finish(app: &Arc<App>, live: &Arc<LiveRun>, graph: &Arc<dyn AnyGraph>, ended: Ended) {
    let Ended { mut outcome, began, base, temporary, webhook, since } = ended;
    let webhook = webhook.as_deref();
    let hands_over = matches!(outcome, RunOutcome::HandedOver);
    if live.cancel_requested() == Some(CancelAction::Rollback) && !hands_over {
        outcome = RunOutcome::RolledBack;
    }
    if let Some(thread) = live.thread_id.filter(|_| !hands_over) {
        if temporary {
            // A failure leaves the thread and its open run; the next server ends it.
            if with_retries(|| delete(app, thread, live, &outcome, webhook)).await.is_err() {
                log::run_not_stored(&live.ids);
            }
        } else {
            if matches!(outcome, RunOutcome::RolledBack)
                && let Err(error) = with_retries(|| graph_undo(graph, thread, live, base)).await
            {
                outcome = RunOutcome::Failed(RunFailure::new("RollbackError", error.text()));
            }
            let (status, error) = status_of(graph, thread, &outcome).await;
            let after = if began {
                ThreadAfter::Run { status, error: error.clone() }
            } else {
                let state = graph.state(&thread.to_string(), None).await.ok().flatten();
                ThreadAfter::Nothing { status: thread_status::of_state(state.as_ref()) }
            };
            let stored = with_retries(|| store(app, thread, live, &outcome, (&after, &error), webhook));
            if stored.await.is_err() {
                log::run_not_stored(&live.ids);
            }
        }
        if webhook.is_some() {
            app.sender.wake();
        }
    }
    if hands_over {
        log::run_handed_over(&live.ids);
    } else {
        app.metrics.run_ended(outcome.status());
        log::run_ended(&live.ids, outcome.status(), outcome.error_type(), since.elapsed());
    }
    live.end(outcome);
    if let Some(thread) = live.thread_id.filter(|_| !hands_over) {
        if let Some(RunOutcome::Done(values) | RunOutcome::Stopped { values, .. }) = live.outcome().as_deref()
        {
            app.thread_streams.push_classic(thread, || state_update(values.get()));
        }
        app.thread_streams.push_classic(thread, || run_done(live.run_id));
    }
    app.runs.remove(live);
}

async fn graph_undo(
    graph: &Arc<dyn AnyGraph>,
    thread: ThreadId,
    live: &LiveRun,
    base: Option<CheckpointId>,
) -> ApiResult<()> {
    graph.undo(&thread.to_string(), &live.run_id.to_string(), base).await
}

/// The pauses before a failed write is tried again.
const PAUSES: [Duration; 3] = [Duration::from_millis(20), Duration::from_millis(200), Duration::from_secs(2)];

async fn with_retries<F: Future<Output = ApiResult<()>>>(write: impl Fn() -> F) -> ApiResult<()> {
    for pause in PAUSES {
        match write().await {
            Err(error) if error.status.is_server_error() => tokio::time::sleep(pause).await,
            result => return result,
        }
    }
    write().await
}

/// Deletes the thread of a run that was only made for it.
async fn delete(
    app: &App,
    thread: ThreadId,
    live: &LiveRun,
    outcome: &RunOutcome,
    webhook: Option<&str>,
) -> ApiResult<()> {
    let record = app.records.run(thread, live.run_id).await?;
    if record.is_some_and(|record| !record.has_ended) {
        // Without its checkpoints, the run would begin again in the next process.
        let end = |run: &mut RunRecord, _: &mut ThreadRecord| run.has_ended = true;
        let result = |run: &RunRecord| {
            let mut run = run.clone();
            run.run.status = outcome.status();
            result_of(app, &run, outcome, webhook)
        };
        app.records.end_run(thread, live.run_id, end, result).await?;
    }
    app.checkpointer.delete(&thread.to_string(), None).await?;
    app.records.delete_thread(thread).await?;
    Ok(())
}

/// Returns the status of the thread, and the error that it shows.
async fn status_of(
    graph: &Arc<dyn AnyGraph>,
    thread: ThreadId,
    outcome: &RunOutcome,
) -> (ThreadStatus, Option<RunError>) {
    let error =
        |error: &str, message: &str| Some(RunError { error: error.to_owned(), message: message.to_owned() });
    match outcome {
        RunOutcome::Done(_) | RunOutcome::HandedOver => (ThreadStatus::Idle, None),
        RunOutcome::Stopped { .. } => (ThreadStatus::Interrupted, None),
        RunOutcome::Failed(failure) => (ThreadStatus::Error, error(&failure.error, &failure.message)),
        RunOutcome::Cancelled => (ThreadStatus::Interrupted, error(USER_INTERRUPT, "the run was cancelled")),
        RunOutcome::RolledBack => {
            let state = graph.state(&thread.to_string(), None).await.ok().flatten();
            let waits = state.is_some_and(|state| state.interrupts().next().is_some());
            (if waits { ThreadStatus::Interrupted } else { ThreadStatus::Idle }, None)
        }
    }
}

/// A thread after the end of a run.
enum ThreadAfter {
    /// The run has changed it.
    Run { status: ThreadStatus, error: Option<RunError> },
    /// The run has not begun. The status follows from the state.
    Nothing { status: ThreadStatus },
}

impl ThreadAfter {
    /// Changes the record of the thread. `busy` if it has other runs.
    fn apply(&self, thread: &mut ThreadRecord, busy: bool) {
        match self {
            Self::Run { status, error } => {
                thread.status = if busy { ThreadStatus::Busy } else { *status };
                thread.error.clone_from(error);
                thread.state_updated_at = Timestamp::now();
            }
            // The other runs set the status.
            Self::Nothing { .. } if busy || thread.status != ThreadStatus::Busy => {}
            Self::Nothing { status } => {
                thread.status = match &thread.error {
                    None => *status,
                    Some(error) if error.error == USER_INTERRUPT => ThreadStatus::Interrupted,
                    Some(_) => ThreadStatus::Error,
                };
            }
        }
    }
}

async fn store(
    app: &App,
    thread: ThreadId,
    live: &LiveRun,
    outcome: &RunOutcome,
    (after, error): (&ThreadAfter, &Option<RunError>),
    webhook: Option<&str>,
) -> ApiResult<()> {
    let change = |thread: &mut ThreadRecord| {
        // A run that was accepted meanwhile has its place in the queue before it changes the thread.
        live.leave_thread();
        after.apply(thread, app.runs.has_others(thread.thread_id, live.run_id));
    };
    if matches!(outcome, RunOutcome::RolledBack) {
        app.records.delete_run(thread, live.run_id, change).await.map_err(ApiError::from)?;
        return Ok(());
    }
    let end = |run: &mut RunRecord, thread: &mut ThreadRecord| {
        run.run.status = outcome.status();
        run.cancel = None;
        run.error.clone_from(error);
        change(thread);
    };
    app.records.end_run(thread, live.run_id, end, |run| result_of(app, run, outcome, webhook)).await?;
    Ok(())
}

/// Returns the result of a run that is sent to its webhook: the run with the values of the state, or with the error.
fn result_of(
    app: &App,
    record: &RunRecord,
    outcome: &RunOutcome,
    webhook: Option<&str>,
) -> Option<WebhookRecord> {
    let url = webhook?.to_owned();
    let Value::Object(mut body) = json!(shown(app, record)) else { return None };
    let result: Value = serde_json::from_str(&outcome.body()).unwrap_or_default();
    let (name, result) = match result.get("__error__") {
        Some(error) => ("error", error.clone()),
        None => ("values", result),
    };
    body.insert(name.to_owned(), result);
    let body = Value::Object(body);
    let (run_id, user_id) = (record.run.run_id, record.user_id.clone());
    Some(WebhookRecord { run_id, user_id, url, body, due: Timestamp::now(), attempts: 0 })
}
