//! Responses about runs.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::{CACHE_CONTROL, CONTENT_LOCATION, CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;

use super::sse::{self, Listener};
use crate::runs::{Attachment, LiveRun, RunOutcome};

/// Returns the headers that say where a run is found, and where a client can come back to it.
pub(super) fn locations(live: &LiveRun, come_back: &str) -> HeaderMap {
    let run = match live.thread_id {
        Some(thread) => format!("/threads/{thread}/runs/{}", live.run_id),
        None => format!("/runs/{}", live.run_id),
    };
    let back = format!("{run}/{come_back}");
    let mut headers = HeaderMap::new();
    for (name, value) in [(CONTENT_LOCATION, run), (LOCATION, back)] {
        // The ids are UUIDs.
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
    headers
}

/// Streams the events of a run. The headers are sent at once.
pub(super) fn stream(headers: HeaderMap, listener: Listener, attachment: Attachment) -> Response {
    event_stream(headers, sse::body(listener, attachment))
}

/// Responds with a body of server-sent events.
pub(super) fn event_stream(headers: HeaderMap, body: Body) -> Response {
    let fixed = [
        (CONTENT_TYPE.as_str(), "text/event-stream; charset=utf-8"),
        (CACHE_CONTROL.as_str(), "no-store"),
        // Proxies would hold events back.
        ("x-accel-buffering", "no"),
    ];
    (fixed, headers, body).into_response()
}

/// Responds with the outcome of a run when it has ended.
pub(super) fn wait(headers: HeaderMap, live: Arc<LiveRun>, attachment: Attachment) -> Response {
    (headers, wait_for(live, attachment, RunOutcome::body)).into_response()
}

/// Responds with JSON that is made of the outcome of a run when it has ended. The headers are sent at once, and then a line
/// break from time to time, which JSON allows.
pub(super) fn wait_for(
    live: Arc<LiveRun>,
    attachment: Attachment,
    body: impl FnOnce(&RunOutcome) -> String + Send + 'static,
) -> Response {
    let start = Some((live, attachment, sse::heartbeat(), body));
    let body = Body::from_stream(unfold(start, |waiting| async move {
        let (live, attachment, mut beat, body) = waiting?;
        let next = tokio::select! {
            biased;
            outcome = live.ended() => Some(outcome),
            _ = beat.tick() => None,
        };
        Some(match next {
            Some(outcome) => (Ok::<_, Infallible>(Bytes::from(body(&outcome))), None),
            None => (Ok(Bytes::from_static(b"\n")), Some((live, attachment, beat, body))),
        })
    }));
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
