//! `/runs/batch`: several runs in one request.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::post;

use super::body::Body;
use super::new_run;
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::protocol::BatchedRun;

/// The maximum number of runs of a batch.
const MAX_RUNS: usize = 1_000;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/runs/batch", post(create))
}

async fn create(Shared(app): Shared, Body(runs): Body<Vec<BatchedRun>>) -> ApiResult<Response> {
    if runs.len() > MAX_RUNS {
        return Err(ApiError::unprocessable(format!("`body`: has {} runs, at most {MAX_RUNS}", runs.len())));
    }
    // In a task of its own: a client that disconnects does not leave half of the runs.
    let accepting = tokio::spawn(new_run::batched(app, runs));
    accepting.await.map_err(|_| ApiError::internal("the request has panicked"))?
}
