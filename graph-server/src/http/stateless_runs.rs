//! `/runs`: runs on threads of their own, and requests about several runs.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::Value;

use super::body::Body;
use super::query::Options;
use super::run_queries::{CancelManyQuery, CancelQuery, JoinQuery, StreamQuery};
use super::run_reply::wait;
use super::runs::{cancelled, no_run, rejoin};
use super::{new_run, reply};
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::protocol::{CancelRuns, CancelStatus, RunId, RunStatus};
use crate::runs::{Attachment, LiveRun, RunThread, cancel, cancel_all};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/runs", post(create))
        .route("/runs/stream", post(create_stream))
        .route("/runs/wait", post(create_wait))
        .route("/runs/cancel", post(cancel_many))
        .route("/runs/{run}/stream", get(join_stream))
        .route("/runs/{run}/join", get(join))
        .route("/runs/{run}/cancel", post(cancel_run))
}

async fn create(Shared(app): Shared, Body(body): Body<Value>) -> ApiResult<Response> {
    new_run::background(app, RunThread::New, body).await
}

async fn create_stream(Shared(app): Shared, Body(body): Body<Value>) -> ApiResult<Response> {
    new_run::streamed(app, RunThread::New, body).await
}

async fn create_wait(Shared(app): Shared, Body(body): Body<Value>) -> ApiResult<Response> {
    new_run::awaited(app, RunThread::New, body).await
}

/// Finds a run of this process by its id alone.
async fn find(app: &App, run: &str) -> ApiResult<Arc<LiveRun>> {
    let id = RunId::parse(run).ok_or_else(|| ApiError::unprocessable("Invalid run ID: must be a UUID"))?;
    match app.runs.find(id) {
        Some(live) if app.sees(&live).await? => Ok(live),
        _ => Err(no_run(id)),
    }
}

async fn join_stream(
    Shared(app): Shared,
    Path(run): Path<String>,
    headers: HeaderMap,
    Options(options): Options<StreamQuery>,
) -> ApiResult<Response> {
    let StreamQuery { cancel_on_disconnect: cancels, stream_mode: modes } = options;
    let live = find(&app, &run).await?;
    rejoin(&app, &live, &headers, cancels, modes).await
}

async fn join(
    Shared(app): Shared,
    Path(run): Path<String>,
    Options(options): Options<JoinQuery>,
) -> ApiResult<Response> {
    let cancels = options.cancel_on_disconnect;
    let live = find(&app, &run).await?;
    let attachment = Attachment::new(&app, &live, cancels);
    Ok(wait(HeaderMap::new(), live, attachment))
}

async fn cancel_run(
    Shared(app): Shared,
    Path(run): Path<String>,
    Options(options): Options<CancelQuery>,
) -> ApiResult<Response> {
    let live = find(&app, &run).await?;
    cancelled(app, live, options).await
}

async fn cancel_many(
    Shared(app): Shared,
    Options(CancelManyQuery { action }): Options<CancelManyQuery>,
    Body(body): Body<CancelRuns>,
) -> ApiResult<Response> {
    let CancelRuns { thread_id, run_ids, status } = body;
    // In a task of its own: a client that disconnects does not leave half of the runs.
    let done = tokio::spawn(async move {
        let mut runs = Vec::with_capacity(run_ids.len());
        for run in run_ids {
            match app.runs.find(run).filter(|live| live.thread_id == thread_id) {
                Some(live) if app.sees(&live).await? => runs.push(live),
                _ => return Err(no_run(run)),
            }
        }
        for run in runs {
            cancel(&app, &run, action, None).await?;
        }
        if let Some(status) = status {
            let status = match status {
                CancelStatus::Pending => Some(RunStatus::Pending),
                CancelStatus::Running => Some(RunStatus::Running),
                CancelStatus::All => None,
            };
            cancel_all(&app, thread_id, status, action).await?;
        }
        Ok::<_, ApiError>(())
    });
    done.await.map_err(|_| ApiError::internal("the cancellation has panicked"))??;
    Ok(reply::no_content())
}
