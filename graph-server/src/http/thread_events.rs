//! `/threads/{thread}/stream/events`: the events of a thread over all its runs.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::Router;
use axum::body::{Body as ResponseBody, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::stream::unfold;
use schemars::JsonSchema;

use super::body::Body;
use super::path::ThreadPart;
use super::query::{Options, Query, ReadQuery};
use super::run_reply::event_stream;
use super::sse::{self, HEARTBEAT_FRAME, Listener, Wanted, heartbeat, push_data};
use crate::api_error::ApiResult;
use crate::app::{App, Shared};
use crate::events::Resume;
use crate::graphs::checkpoint_uuid;
use crate::protocol::{ThreadId, ThreadStreamMode};
use crate::runs::{Replay, no_thread};
use crate::thread_stream::{
    Channel, EventFilter, NewEvent, Subscription, ThreadBatch, ThreadEvent, ThreadReader,
};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/threads/{thread}/stream", get(join))
        .route("/threads/{thread}/stream/events", post(stream))
}

/// Streams the events that are kept, and then those that follow.
async fn stream(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(subscription): Body<Subscription>,
) -> ApiResult<Response> {
    require_visible(&app, thread).await?;
    let Subscription { filter, since } = subscription;
    let reader = app.thread_streams.open(thread).read(since.filter(|since| *since > 0));
    Ok(event_stream(HeaderMap::new(), body(app, thread, reader, filter)))
}

/// Returns the events of a batch. In place of events that are no longer kept, a client gets the latest state of the thread, which is made
/// of its checkpoint.
pub(super) async fn complete(app: &App, thread: ThreadId, batch: ThreadBatch) -> Vec<Arc<ThreadEvent>> {
    let ThreadBatch { missed, mut events } = batch;
    if let Some(seq) = missed
        && let Some(event) = state_event(app, thread, seq).await
    {
        events.insert(0, Arc::new(event));
    }
    events
}

/// Returns the latest state of a thread as an event. `None` if it cannot be read now: the next event has a newer one.
async fn state_event(app: &App, thread: ThreadId, seq: u64) -> Option<ThreadEvent> {
    let record = app.records.thread(thread).await.ok()??;
    let graph = app.graphs.find(&record.graph_id?)?;
    let state = graph.state(&thread.to_string(), None).await.ok()??;
    let event = NewEvent {
        channel: Channel::Values,
        namespace: Vec::new(),
        event_id: format!("state:{}", checkpoint_uuid(state.id)),
        node: None,
        custom_name: None,
        data: state.values?.get().to_owned(),
    };
    Some(ThreadEvent::of(event, seq))
}

/// Checks that the caller may read the events of a thread.
///
/// The thread need not exist yet, because clients choose its id, and its first run creates it. But if callers are told apart,
/// it must exist: it could become the thread of another client.
pub(super) async fn require_visible(app: &App, thread: ThreadId) -> ApiResult<()> {
    match &app.caller {
        Some(_) if app.records.thread(thread).await?.is_none() => Err(no_thread(thread)),
        _ => Ok(()),
    }
}

/// The options of a stream of a thread.
#[derive(JsonSchema)]
pub(super) struct ThreadStreamQuery {
    /// The kinds of events. The default is `run_modes`.
    pub(super) stream_mode: Vec<ThreadStreamMode>,
}

impl ReadQuery for ThreadStreamQuery {
    fn read(query: &mut Query) -> Self {
        Self { stream_mode: query.list("stream_mode") }
    }
}

/// Streams the classic events of all runs of a thread from now on, or from the last event that a client has seen.
async fn join(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    headers: HeaderMap,
    Options(options): Options<ThreadStreamQuery>,
) -> ApiResult<Response> {
    let mut modes = options.stream_mode;
    if app.records.thread(thread).await?.is_none() {
        return Err(no_thread(thread));
    }
    if modes.is_empty() {
        modes.push(ThreadStreamMode::RunModes);
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let events = app.thread_streams.open(thread);
    let reader = events.read_classic(Resume::parse(last));
    let (replay, known_tasks) = (Replay::default(), None);
    let listener = Listener { replay, known_tasks, reader, ids: true, wanted: Wanted::OfThread(modes) };
    // The events are kept while they are read.
    Ok(event_stream(HeaderMap::new(), sse::body(listener, events)))
}

fn body(app: Arc<App>, thread: ThreadId, reader: ThreadReader, filter: EventFilter) -> ResponseBody {
    let start = (app, reader, filter, heartbeat());
    ResponseBody::from_stream(unfold(start, move |(app, mut reader, filter, mut beat)| async move {
        loop {
            let batch = tokio::select! {
                biased;
                batch = reader.next() => Some(batch?),
                _ = beat.tick() => None,
            };
            let frames = match batch {
                // In a box, because it is rare.
                Some(batch) if batch.missed.is_some() => {
                    frames(&filter, &Box::pin(complete(&app, thread, batch)).await)
                }
                Some(batch) => frames(&filter, &batch.events),
                None => HEARTBEAT_FRAME.to_owned(),
            };
            if !frames.is_empty() {
                return Some((Ok::<_, Infallible>(Bytes::from(frames)), (app, reader, filter, beat)));
            }
        }
    }))
}

fn frames(filter: &EventFilter, events: &[Arc<ThreadEvent>]) -> String {
    let mut frames = String::new();
    for event in events.iter().filter(|event| filter.matches(event)) {
        // Writing to a string does not fail.
        let _ = write!(frames, "event: {}\r\n", event.channel.method());
        push_data(&mut frames, &event.text);
        let _ = write!(frames, "id: {}\r\n\r\n", event.seq);
    }
    frames
}
