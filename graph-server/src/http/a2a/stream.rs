//! The events of a task as server-sent events, each a response of JSON-RPC.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::Response;
use futures_util::stream::unfold;
use serde_json::Value;
use tokio::time::Interval;

use super::{Agent, result};
use crate::events::{EventId, LogReader, LoggedEvent};
use crate::http::run_reply::event_stream;
use crate::http::sse::{HEARTBEAT_FRAME, heartbeat, push_frame};
use crate::protocol::Timestamp;
use crate::protocol::a2a::{Message, Part, Task, TaskState, artifact_update, status_update, stream_item};
use crate::runs::LiveRun;

/// A client that reads the events of a task.
struct Feed {
    agent: Agent,
    task: Task,
    /// `None` if the client has missed events: it gets the result only.
    reader: Option<LogReader>,
    /// `None` when the task has stopped and everything was sent.
    live: Option<Arc<LiveRun>>,
    beat: Interval,
    first: bool,
    /// The message that the agent is writing: its id and its text so far.
    writing: (String, String),
}

/// Responds with a task, and then with its events until it stops.
pub(super) fn respond(agent: Agent, task: Task, run: Option<(LogReader, Arc<LiveRun>)>) -> Response {
    let (reader, live) = run.unzip();
    let writing = (String::new(), String::new());
    let feed = Feed { agent, task, reader, live, beat: heartbeat(), first: true, writing };
    let body = Body::from_stream(unfold(feed, |mut feed| async move {
        let frames = feed.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(frames)), feed))
    }));
    event_stream(HeaderMap::new(), body)
}

enum Step {
    Events(Vec<(EventId, Arc<LoggedEvent>)>),
    NoEvents,
    Ended(Arc<crate::runs::RunOutcome>),
    Beat,
}

impl Feed {
    async fn next(&mut self) -> Option<String> {
        if std::mem::take(&mut self.first) {
            let task = self.task.to_json(self.agent.version);
            return Some(self.frame(stream_item("task", task, self.agent.version)));
        }
        loop {
            let live = Arc::clone(self.live.as_ref()?);
            let events = async {
                match &mut self.reader {
                    Some(reader) => match reader.next().await {
                        Some(Ok(events)) => Step::Events(events),
                        _ => Step::NoEvents,
                    },
                    None => Step::Ended(live.ended().await),
                }
            };
            let step = tokio::select! {
                biased;
                step = events => step,
                _ = self.beat.tick() => Step::Beat,
            };
            match step {
                Step::Beat => return Some(HEARTBEAT_FRAME.to_owned()),
                Step::NoEvents => self.reader = None,
                Step::Events(events) => {
                    if self.read(&events) {
                        return Some(self.progress());
                    }
                }
                Step::Ended(outcome) => {
                    self.live = None;
                    self.task.at = Timestamp::now();
                    self.task.message = None;
                    result::apply(&mut self.task, live.run_id, &*self.agent.graph, &outcome);
                    return self.task.state.has_stopped().then(|| self.last());
                }
            }
        }
    }

    /// Reads the text of the agent out of events. Returns `true` if there is more of it.
    fn read(&mut self, events: &[(EventId, Arc<LoggedEvent>)]) -> bool {
        let mut grown = false;
        for (_, event) in events.iter().filter(|(_, event)| event.name == "messages") {
            let data: Value = serde_json::from_str(&event.data).unwrap_or_default();
            let Some(chunk) = data.get(0) else { continue };
            let (id, text) = (chunk.get("id").and_then(Value::as_str), result::text_of(chunk));
            let written_by_agent =
                chunk.get("type").is_some_and(|kind| kind == "AIMessageChunk" || kind == "ai");
            if !written_by_agent || text.is_empty() {
                continue;
            }
            let id = id.unwrap_or_default();
            if self.writing.0 != id {
                self.writing = (id.to_owned(), String::new());
            }
            self.writing.1.push_str(&text);
            grown = true;
        }
        grown
    }

    /// Returns the event for the text so far.
    fn progress(&mut self) -> String {
        let (id, text) = self.writing.clone();
        self.task.state = TaskState::Working;
        self.task.at = Timestamp::now();
        self.task.message = Some(Message::of_agent(id, Part::Text(text)));
        self.frame(status_update(&self.task, self.agent.version))
    }

    /// Returns the last events: the artifacts and the status.
    fn last(&self) -> String {
        let version = self.agent.version;
        let artifacts = self.task.artifacts.iter();
        let mut events: Vec<Value> =
            artifacts.map(|artifact| artifact_update(&self.task.id, artifact, version)).collect();
        events.push(status_update(&self.task, version));
        events.into_iter().map(|event| self.frame(event)).collect()
    }

    fn frame(&self, result: Value) -> String {
        let mut frame = String::new();
        push_frame(&mut frame, "message", &self.agent.response(Ok(result)).to_string(), None);
        frame
    }
}
