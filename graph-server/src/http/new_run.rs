//! Accepts a run, and responds at once, with its events or with its outcome.

use std::sync::Arc;

use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

use super::reply;
use super::run_reply::{locations, stream, wait};
use super::sse::{Listener, Wanted};
use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::protocol::{BatchedRun, Object, OnDisconnect, Run, RunRequest, RunStatus, read_body};
use crate::runs::{Accepted, Attachment, LiveRun, NewRun, Replay, RunThread, accept, check};

/// Responds as soon as the run is stored.
pub(super) async fn background(app: Arc<App>, thread: RunThread, body: Value) -> ApiResult<Response> {
    let (accepted, _) = accepted(app, thread, body, Reply::Record).await?;
    let headers = locations(&accepted.live, "join");
    let Some(record) = accepted.record else { return Err(ApiError::internal("the run was not stored")) };
    // A new run is pending for its client, also if it has begun meanwhile.
    let record = Run { status: RunStatus::Pending, ..record };
    Ok((headers, reply::json(&record)).into_response())
}

/// Responds with the events of the run.
pub(super) async fn streamed(app: Arc<App>, thread: RunThread, body: Value) -> ApiResult<Response> {
    let (accepted, attachment) = accepted(app, thread, body, Reply::Events).await?;
    let Accepted { live, reader, .. } = accepted;
    let headers = locations(&live, "stream");
    Ok(stream(
        headers,
        Listener {
            replay: Replay::default(),
            known_tasks: None,
            reader,
            ids: live.log.keeps_all(),
            wanted: Wanted::OfRun(Vec::new()),
        },
        attachment,
    ))
}

/// Responds with the outcome of the run.
pub(super) async fn awaited(app: Arc<App>, thread: RunThread, body: Value) -> ApiResult<Response> {
    let (accepted, attachment) = accepted(app, thread, body, Reply::Outcome).await?;
    let headers = locations(&accepted.live, "join");
    Ok(wait(headers, accepted.live, attachment))
}

/// Accepts a run whose outcome the caller waits for.
pub(super) async fn accepted_call(
    app: Arc<App>,
    thread: RunThread,
    body: Value,
) -> ApiResult<(Arc<LiveRun>, Attachment)> {
    let (accepted, attachment) = accepted(app, thread, body, Reply::Outcome).await?;
    Ok((accepted.live, attachment))
}

/// Accepts a run whose events the caller reads.
pub(super) async fn accepted_events(
    app: Arc<App>,
    thread: RunThread,
    body: Value,
) -> ApiResult<(Accepted, Attachment)> {
    accepted(app, thread, body, Reply::Events).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reply {
    Record,
    Events,
    Outcome,
}

async fn accepted(
    app: Arc<App>,
    thread: RunThread,
    body: Value,
    reply: Reply,
) -> ApiResult<(Accepted, Attachment)> {
    let request: RunRequest =
        read_body(body.clone()).map_err(|problems| ApiError::unprocessable(problems.to_string()))?;
    let Value::Object(body) = body else { return Err(ApiError::unprocessable("`body`: expected an object")) };
    accepted_request(app, thread, (request, body), reply).await
}

/// Accepts the runs of a batch: all of them, if each could be accepted alone. Responds with their records.
pub(super) async fn batched(app: Arc<App>, runs: Vec<BatchedRun>) -> ApiResult<Response> {
    let place = |run: &BatchedRun| run.thread_id.map_or(RunThread::New, RunThread::Given);
    for (index, run) in runs.iter().enumerate() {
        let checked = check(&app, place(run), run.request.clone()).await;
        checked.map_err(|error| ApiError::new(error.status, format!("`body[{index}]`: {}", error.text())))?;
    }
    let mut records = Vec::with_capacity(runs.len());
    for run in runs {
        let (thread, app) = (place(&run), Arc::clone(&app));
        let (accepted, _) = accepted_request(app, thread, (run.request, run.body), Reply::Record).await?;
        // As the response of a single run.
        records.extend(accepted.record.map(|record| Run { status: RunStatus::Pending, ..record }));
    }
    Ok(reply::json(&records))
}

async fn accepted_request(
    app: Arc<App>,
    thread: RunThread,
    (request, body): (RunRequest, Object),
    reply: Reply,
) -> ApiResult<(Accepted, Attachment)> {
    let cancels = reply != Reply::Record && request.on_disconnect == OnDisconnect::Cancel;
    let (transient, streams) = (reply != Reply::Record, reply == Reply::Events);
    let new = NewRun { thread, request, body, transient, streams, cron: None };
    // In a task of its own: if the client disconnects, the run is accepted completely. The attachment then sees that
    // the client is gone.
    let accepting = async move {
        let accepted = accept(&app, new).await?;
        let attachment = Attachment::new(&app, &accepted.live, cancels);
        Ok((accepted, attachment))
    };
    let accepting = tokio::spawn(crate::log::in_current_span(accepting));
    accepting.await.map_err(|_| ApiError::internal("the request has panicked"))?
}
