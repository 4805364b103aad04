//! `/threads/{thread}/runs`: runs on a thread.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use serde_json::{Map, Value, json};

use super::body::Body;
use super::path::{RunPart, ThreadPart};
use super::query::Options;
use super::run_queries::{CancelQuery, JoinQuery, RunList, StreamQuery};
use super::run_reply::{event_stream, locations, stream, wait};
use super::sse::{self, Listener, Wanted};
use super::{new_run, reply};
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::events::Resume;
use crate::protocol::{Run, RunField, RunId, StreamMode, ThreadId};
use crate::records::RunRecord;
use crate::runs::{Attachment, LiveRun, RunThread, cancel, no_thread, replay_ended, replay_live, shown};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/threads/{thread}/runs", post(create).get(list))
        .route("/threads/{thread}/runs/stream", post(create_stream))
        .route("/threads/{thread}/runs/wait", post(create_wait))
        .route("/threads/{thread}/runs/{run}", get(show).delete(delete))
        .route("/threads/{thread}/runs/{run}/join", get(join))
        .route("/threads/{thread}/runs/{run}/stream", get(join_stream))
        .route("/threads/{thread}/runs/{run}/cancel", post(cancel_run))
}

async fn create(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<Value>,
) -> ApiResult<Response> {
    new_run::background(app, RunThread::Given(thread), body).await
}

async fn create_stream(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<Value>,
) -> ApiResult<Response> {
    new_run::streamed(app, RunThread::Given(thread), body).await
}

async fn create_wait(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<Value>,
) -> ApiResult<Response> {
    new_run::awaited(app, RunThread::Given(thread), body).await
}

async fn list(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Options(options): Options<RunList>,
) -> ApiResult<Response> {
    let RunList { limit, offset, status, select } = options;
    if app.records.thread(thread).await?.is_none() {
        return Err(no_thread(thread));
    }
    let runs = app.records.runs(thread, status, offset, limit).await?;
    Ok(reply::json(&runs.iter().map(|run| selected(shown(&app, run), &select)).collect::<Vec<_>>()))
}

fn selected(run: Run, select: &[RunField]) -> Value {
    let Value::Object(fields) = json!(run) else { return Value::Null };
    if select.is_empty() {
        return Value::Object(fields);
    }
    let wanted = |name: &String| select.iter().any(|field| field.name() == name);
    Value::Object(fields.into_iter().filter(|(name, _)| wanted(name)).collect::<Map<_, _>>())
}

async fn show(Shared(app): Shared, RunPart(thread, run): RunPart) -> ApiResult<Response> {
    Ok(reply::json(&shown(&app, &find(&app, thread, run).await?)))
}

/// Finds a stored run.
async fn find(app: &App, thread: ThreadId, run: RunId) -> ApiResult<RunRecord> {
    app.records.run(thread, run).await?.ok_or_else(|| no_run(run))
}

pub(super) fn no_run(run: RunId) -> ApiError {
    ApiError::not_found(format!("Run with ID {run} not found"))
}

/// Returns a run of the thread that this process knows.
fn live(app: &App, thread: ThreadId, run: RunId) -> Option<Arc<LiveRun>> {
    app.runs.find(run).filter(|live| live.thread_id == Some(thread))
}

async fn delete(Shared(app): Shared, RunPart(thread, run): RunPart) -> ApiResult<Response> {
    if live(&app, thread, run).is_some_and(|live| live.outcome().is_none()) {
        return Err(ApiError::conflict(format!("run `{run}` has not ended: cancel it first")));
    }
    match app.records.delete_run(thread, run, |_| {}).await? {
        true => Ok(reply::no_content()),
        false => Err(no_run(run)),
    }
}

async fn join(
    Shared(app): Shared,
    RunPart(thread, run): RunPart,
    Options(options): Options<JoinQuery>,
) -> ApiResult<Response> {
    let cancels = options.cancel_on_disconnect;
    if let Some(live) = live(&app, thread, run) {
        let attachment = Attachment::new(&app, &live, cancels);
        return Ok(wait(HeaderMap::new(), live, attachment));
    }
    let record = find(&app, thread, run).await?;
    let Some(found) = app.records.thread(thread).await? else { return Err(no_thread(thread)) };
    if let Some(error) = app.records.error_of(&record).await? {
        return Ok(reply::json(&json!({ "__error__": error })));
    }
    super::state::values(&app, &found, run).await
}

async fn join_stream(
    Shared(app): Shared,
    RunPart(thread, run): RunPart,
    headers: HeaderMap,
    Options(options): Options<StreamQuery>,
) -> ApiResult<Response> {
    let StreamQuery { cancel_on_disconnect: cancels, stream_mode: modes } = options;
    if let Some(live) = live(&app, thread, run) {
        return rejoin(&app, &live, &headers, cancels, modes).await;
    }
    let record = find(&app, thread, run).await?;
    // An earlier process has executed it, or it has ended long ago.
    let from = resume(&headers);
    let replay = replay_ended(&app, &record, from).await?;
    let log = app.runs.new_log(record.epoch, true);
    log.end();
    let wanted = Wanted::OfRun(modes);
    let listener = Listener { replay, known_tasks: None, reader: log.read(Resume::All), ids: true, wanted };
    Ok(event_stream(HeaderMap::new(), sse::body(listener, ())))
}

fn resume(headers: &HeaderMap) -> Resume {
    Resume::parse(headers.get("last-event-id").and_then(|id| id.to_str().ok()))
}

/// Streams the events of a run to a client that comes back.
pub(super) async fn rejoin(
    app: &Arc<App>,
    live: &Arc<LiveRun>,
    headers: &HeaderMap,
    cancels: bool,
    modes: Vec<StreamMode>,
) -> ApiResult<Response> {
    let from = resume(headers);
    // The reader comes first: it keeps the events that are sent meanwhile.
    let reader = live.log.read(from);
    let known_tasks = match from {
        Resume::After(id) => id.position,
        Resume::All | Resume::Now => None,
    };
    let listener = Listener {
        replay: replay_live(app, live, from).await?,
        known_tasks,
        reader,
        ids: live.log.keeps_all(),
        wanted: Wanted::OfRun(modes),
    };
    Ok(stream(locations(live, "stream"), listener, Attachment::new(app, live, cancels)))
}

async fn cancel_run(
    Shared(app): Shared,
    RunPart(thread, run): RunPart,
    Options(options): Options<CancelQuery>,
) -> ApiResult<Response> {
    let live = live(&app, thread, run).ok_or_else(|| no_run(run))?;
    cancelled(app, live, options).await
}

/// Cancels a run, and waits for its end if the query says so.
pub(super) async fn cancelled(
    app: Arc<App>,
    live: Arc<LiveRun>,
    options: CancelQuery,
) -> ApiResult<Response> {
    let CancelQuery { wait: waits, action, reason } = options;
    let run = Arc::clone(&live);
    // In a task of its own: a client that disconnects does not leave half a cancellation.
    let done = tokio::spawn(async move { cancel(&app, &run, action, reason).await });
    if !done.await.map_err(|_| ApiError::internal("the cancellation has panicked"))?? {
        return Err(no_run(live.run_id));
    }
    if !waits {
        return Ok(StatusCode::ACCEPTED.into_response());
    }
    live.ended().await;
    Ok(reply::json(&json!({})))
}
