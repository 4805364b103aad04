//! Clients that come back to a resumable run after the server was killed and started again. They see every event once.

use std::path::Path;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

use crate::child::{Running, open_gate};
use crate::http::{ended, id, ok, parse, send};
use crate::killed::happens;

/// An event with its id.
type Event = (String, String, String);

fn events(text: &str) -> Vec<Event> {
    let frames = text.split("\r\n\r\n").filter(|frame| frame.starts_with("event: "));
    let field = |frame: &str, name: &str| {
        let line = frame.split("\r\n").find_map(|line| line.strip_prefix(&format!("{name}: ")));
        line.unwrap_or_default().to_owned()
    };
    // The last frame may be cut off.
    let whole = frames.filter(|frame| frame.contains("\r\nid: ") || frame.starts_with("event: error"));
    whole.map(|frame| (field(frame, "event"), field(frame, "data"), field(frame, "id"))).collect()
}

/// The events without those that say which process executes the run.
fn shown(events: &[Event]) -> Vec<(String, Value)> {
    let data = |data: &str| serde_json::from_str(data).expect("JSON");
    let found = events.iter().filter(|(name, ..)| name != "metadata");
    found.map(|(name, text, _)| (name.clone(), data(text))).collect()
}

async fn rejoin(port: u16, path: &str, last: &str) -> TcpStream {
    let headers = format!("last-event-id: {last}\r\n");
    send(port, "GET", &format!("{path}/stream"), None, &headers).await.expect("a stream")
}

async fn rest(mut connection: TcpStream) -> Vec<Event> {
    let mut text = String::new();
    connection.read_to_string(&mut text).await.expect("the rest");
    let (status, body) = parse(&text).expect("a response");
    assert_eq!(status, 200, "{text}");
    events(&body)
}

/// Starts a resumable run, and returns the path of the run.
async fn start(port: u16, name: &str, modes: Value) -> (String, String, String) {
    let thread = id(&ok(port, "POST", "/threads", Some(&json!({}))).await, "thread_id");
    let body = json!({
        "assistant_id": "job", "input": { "name": name }, "durability": "sync", "stream_mode": modes,
        "stream_resumable": true,
    });
    let run = id(&ok(port, "POST", &format!("/threads/{thread}/runs"), Some(&body)).await, "run_id");
    (format!("/threads/{thread}/runs/{run}"), thread, run)
}

/// Reads the first events of a run.
async fn first(port: u16, path: &str, count: usize) -> Vec<Event> {
    let mut connection = rejoin(port, path, "-1").await;
    let (mut text, mut part) = (String::new(), [0; 1_024]);
    loop {
        let found = events(&text);
        if found.len() >= count {
            return found;
        }
        let length = connection.read(&mut part).await.expect("events");
        assert!(length > 0, "{text}");
        text.push_str(std::str::from_utf8(&part[..length]).expect("text"));
    }
}

/// The events that a run sends if no server is killed.
async fn uncut(folder: &Path, name: &str, modes: Value) -> Vec<(String, Value)> {
    let server = Running::start(folder);
    let (path, thread, run) = start(server.port, name, modes).await;
    ended(server.port, &thread, &run).await;
    shown(&rest(rejoin(server.port, &path, "-1").await).await)
}

#[tokio::test]
async fn a_run_that_was_cut_off_shows_every_event_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let modes = json!(["values", "updates"]);
    let first_server = Running::start(folder.path());
    let (path, ..) = start(first_server.port, "wait-a", modes.clone()).await;
    // The start, the state of the input, an update and its state. Now `work` waits.
    let before = first(first_server.port, &path, 4).await;
    assert_eq!(before.len(), 4, "{before:?}");
    // Before it begins, the superstep of `begin` is stored.
    happens(folder.path(), "work wait-a").await;
    first_server.kill();

    let second = Running::start(folder.path());
    let mut connections = Vec::new();
    for seen in 1..=before.len() {
        connections.push((seen, rejoin(second.port, &path, &before[seen - 1].2).await));
    }
    let all = rejoin(second.port, &path, "-1").await;
    open_gate(folder.path());
    let expected = uncut(folder.path(), "wait-a", modes).await;
    assert_eq!(expected.len(), 5, "{expected:?}");
    for (seen, connection) in connections {
        let after = rest(connection).await;
        let found = shown(&[&before[..seen], &after].concat());
        assert_eq!(found, expected, "after {seen} events: {after:?}");
    }
    assert_eq!(shown(&rest(all).await), expected);
}

/// The events that a client gets first have the ids of no later ones.
#[tokio::test]
async fn a_client_that_begins_anew_after_a_restart_may_be_cut_off() {
    let folder = tempfile::tempdir().expect("a folder");
    let modes = json!(["values", "updates"]);
    let first_server = Running::start(folder.path());
    let (path, ..) = start(first_server.port, "wait-a", modes.clone()).await;
    happens(folder.path(), "work wait-a").await;
    first_server.kill();

    let second = Running::start(folder.path());
    let mut clients = Vec::new();
    for count in 1..=5 {
        let mut before = first(second.port, &path, count).await;
        before.truncate(count);
        let last = before.last().expect("an event").2.clone();
        clients.push((before, rejoin(second.port, &path, &last).await));
    }
    open_gate(folder.path());
    let expected = uncut(folder.path(), "wait-a", modes).await;
    for (before, connection) in clients {
        let after = rest(connection).await;
        assert_eq!(shown(&[&*before, &after].concat()), expected, "{before:?}, {after:?}");
    }
}

#[tokio::test]
async fn a_run_that_has_ended_before_the_restart_is_shown_from_its_checkpoints() {
    for (name, modes, count) in [
        ("a", json!(["values", "updates"]), 5),
        ("a", json!(["tasks"]), 4),
        ("ask", json!(["values", "updates"]), 5),
        ("fail", json!(["values", "updates"]), 4),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let server = Running::start(folder.path());
        let (path, thread, run) = start(server.port, name, modes).await;
        ended(server.port, &thread, &run).await;
        let before = rest(rejoin(server.port, &path, "-1").await).await;
        let expected = shown(&before);
        assert_eq!(expected.len(), count, "{expected:?}");
        server.kill();
        let second = Running::start(folder.path());
        assert_eq!(shown(&rest(rejoin(second.port, &path, "-1").await).await), expected);
        for seen in 1..=before.len() {
            let after = rest(rejoin(second.port, &path, &before[seen - 1].2).await).await;
            let found = shown(&[&before[..seen], &after].concat());
            // The end of a task and its beginning belong together.
            if before[seen - 1].0 != "tasks" {
                assert_eq!(found, expected, "{name} after {seen} events: {after:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_client_that_comes_back_twice_sees_every_event_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Running::start(folder.path());
    let (path, thread, run) = start(server.port, "a", json!(["values", "updates"])).await;
    ended(server.port, &thread, &run).await;
    let before = rest(rejoin(server.port, &path, "-1").await).await;
    server.kill();
    let second = Running::start(folder.path());
    let again = rest(rejoin(second.port, &path, &before[1].2).await).await;
    // Cut off after the first event that was made again.
    let last = rest(rejoin(second.port, &path, &again[0].2).await).await;
    assert_eq!(shown(&[&before[..2], &again[..1], &last].concat()), shown(&before));
}
