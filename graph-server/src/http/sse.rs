//! Server-sent events: their framing, and the body of a response that streams a run.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures_util::stream::unfold;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use crate::events::{EventId, LogReader, LoggedEvent, Position};
use crate::protocol::{StreamMode, ThreadStreamMode};
use crate::runs::Replay;
use crate::stream::STATE_UPDATE;

/// The time between comments that keep a connection open. Clients derive a timeout from it.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// The comment that keeps a connection open.
pub(super) const HEARTBEAT_FRAME: &str = ": heartbeat\r\n\r\n";

/// A client that reads the events of a run.
pub(super) struct Listener {
    /// The events that are sent before those of the log.
    pub(super) replay: Replay,
    /// The number of finished tasks that the client knows of the superstep in which the run was restored.
    pub(super) known_tasks: Option<Position>,
    pub(super) reader: LogReader,
    /// `true` to send the ids of events.
    pub(super) ids: bool,
    pub(super) wanted: Wanted,
}

/// The events that a client wants.
pub(super) enum Wanted {
    /// Those of a run with these modes. Empty for all.
    OfRun(Vec<StreamMode>),
    /// Those of a thread.
    OfThread(Vec<ThreadStreamMode>),
}

impl Wanted {
    fn has(&self, event: &LoggedEvent) -> bool {
        match self {
            Self::OfRun(modes) => modes.is_empty() || event.mode.is_none_or(|mode| modes.contains(&mode)),
            Self::OfThread(modes) => modes.iter().any(|mode| match mode {
                ThreadStreamMode::RunModes => event.name != STATE_UPDATE,
                ThreadStreamMode::Lifecycle => matches!(&*event.name, "metadata" | "error"),
                ThreadStreamMode::StateUpdate => event.name == STATE_UPDATE,
            }),
        }
    }
}

/// Returns the body of a response that streams events to a client.
///
/// The attachment is dropped when the client goes away.
pub(super) fn body<A: Send + 'static>(listener: Listener, attachment: A) -> Body {
    let start = (listener, attachment, heartbeat(), false);
    Body::from_stream(unfold(start, |(mut listener, attachment, mut beat, ended)| async move {
        if ended {
            return None;
        }
        let Replay { events, missed: lost } = std::mem::take(&mut listener.replay);
        if lost || !events.is_empty() {
            let frames = if lost { missed() } else { listener.frames(&events) };
            if !frames.is_empty() {
                return Some((Ok::<_, Infallible>(Bytes::from(frames)), (listener, attachment, beat, lost)));
            }
        }
        loop {
            let (frames, ended) = tokio::select! {
                biased;
                events = listener.reader.next() => match events {
                    Some(Ok(events)) => (listener.frames(&events), false),
                    Some(Err(_)) => (missed(), true),
                    None => return None,
                },
                _ = beat.tick() => (HEARTBEAT_FRAME.to_owned(), false),
            };
            if !frames.is_empty() {
                let frames = Ok::<_, Infallible>(Bytes::from(frames));
                return Some((frames, (listener, attachment, beat, ended)));
            }
        }
    }))
}

/// Returns the ticks at which something is sent to keep a connection open.
pub(super) fn heartbeat() -> Interval {
    let mut interval = interval_at(Instant::now() + HEARTBEAT, HEARTBEAT);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    interval
}

impl Listener {
    fn frames(&self, events: &[(EventId, std::sync::Arc<LoggedEvent>)]) -> String {
        let mut frames = String::new();
        for (id, event) in events {
            let known = event.restored && event.position <= self.known_tasks;
            if self.wanted.has(event) && !known {
                push_frame(&mut frames, &event.name, &event.data, self.ids.then_some(*id));
            }
        }
        frames
    }
}

/// The event for a client that has missed events.
fn missed() -> String {
    let mut frames = String::new();
    let data = r#"{"error":"StreamLagError","message":"the client was too slow, or came back too late: events of the run are missing; read the state of the thread"}"#;
    push_frame(&mut frames, "error", data, None);
    frames
}

/// Appends JSON as the data of an event. Raw JSON may have line breaks between its tokens: each line is then a field, and clients join
/// them.
pub(super) fn push_data(frames: &mut String, json: &str) {
    for line in json.split(['\r', '\n']) {
        for part in ["data: ", line, "\r\n"] {
            frames.push_str(part);
        }
    }
}

/// Appends an event.
pub(super) fn push_frame(frames: &mut String, name: &str, data: &str, id: Option<EventId>) {
    for part in ["event: ", name, "\r\n"] {
        frames.push_str(part);
    }
    push_data(frames, data);
    if let Some(id) = id {
        // Writing to a string does not fail.
        let _ = write!(frames, "id: {id}\r\n");
    }
    frames.push_str("\r\n");
}
