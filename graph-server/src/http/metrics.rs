//! `/metrics`.

use std::sync::Arc;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use crate::app::{App, Shared};
use crate::metrics::Gauges;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/metrics", get(show))
}

async fn show(Shared(app): Shared) -> Response {
    let (pending, running) = app.runs.count_open();
    let text = app.metrics.text(Gauges { pending, running, streams: app.streams.count() });
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
