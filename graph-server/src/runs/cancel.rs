use std::sync::Arc;

use super::LiveRun;
use super::execute::execute;
use crate::api_error::ApiResult;
use crate::app::App;
use crate::protocol::{CancelAction, RunStatus, ThreadId};

/// Cancels a run. Returns `false` if it has ended, or if the caller does not see it.
///
/// The request is stored first, so that it is kept if the process ends before the run does.
pub(crate) async fn cancel(
    app: &Arc<App>,
    live: &Arc<LiveRun>,
    action: CancelAction,
    reason: Option<String>,
) -> ApiResult<bool> {
    if live.outcome().is_some() || !app.sees(live).await? {
        return Ok(false);
    }
    if let Some(thread) = live.thread_id {
        let stored = app.records.change_run(thread, live.run_id, |record, _| {
            if record.run.status.is_open() {
                record.cancel = Some(action);
                record.run.cancel_reason = reason;
            }
        });
        stored.await?;
    }
    if !live.request_cancel(action) {
        return Ok(false);
    }
    // A run that waits for its turn ends now.
    if let Some(thread) = live.thread_id
        && let Some(job) = app.runs.take(thread, live.run_id)
    {
        let own = Arc::clone(app.as_server());
        app.runs.spawn(async move { execute(&own, job).await });
    }
    Ok(true)
}

/// Cancels the unfinished runs of a thread, or of all threads that the caller sees, with a status. Returns their number.
pub(crate) async fn cancel_all(
    app: &Arc<App>,
    thread: Option<ThreadId>,
    status: Option<RunStatus>,
    action: CancelAction,
) -> ApiResult<usize> {
    let runs = match thread {
        Some(thread) => app.runs.unfinished(thread),
        None => app.runs.all_unfinished(),
    };
    let mut cancelled = 0;
    for run in runs {
        if status.is_none_or(|status| run.status() == status) && cancel(app, &run, action, None).await? {
            cancelled += 1;
        }
    }
    Ok(cancelled)
}

/// Cancels all runs of a thread, and waits until they have ended.
pub(crate) async fn stop_all(app: &Arc<App>, thread: ThreadId) -> ApiResult<()> {
    let runs = app.runs.unfinished(thread);
    for run in &runs {
        cancel(app, run, CancelAction::Interrupt, None).await?;
    }
    for run in runs {
        run.ended().await;
    }
    Ok(())
}
