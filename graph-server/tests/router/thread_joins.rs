//! The classic events of a thread, over all its runs.

use std::time::Duration;

use axum::body::Body;
use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::client::{Client, parse_events};

type Event = (String, Value, Option<String>);

/// An open stream of a thread.
struct Joined {
    body: Body,
    text: String,
}

impl Joined {
    async fn open(client: &Client, thread: &str, query: &str, last: Option<&str>) -> Self {
        let headers: Vec<_> = last.map(|last| ("last-event-id", last)).into_iter().collect();
        let path = format!("/threads/{thread}/stream{query}");
        let response = client.send(Method::GET, &path, None, &headers).await;
        assert_eq!(response.status(), 200);
        Self { body: response.into_body(), text: String::new() }
    }

    /// Reads up to the end of a run.
    async fn until_done(&mut self) -> Vec<Event> {
        self.until("run_done").await
    }

    /// Reads up to the event that contains this string.
    async fn until(&mut self, part: &str) -> Vec<Event> {
        loop {
            if let Some(place) = self.text.find(part)
                && let Some(end) = self.text[place..].find("\r\n\r\n")
            {
                let rest = self.text.split_off(place + end + 4);
                return parse_events(&std::mem::replace(&mut self.text, rest));
            }
            let frame = tokio::time::timeout(Duration::from_secs(10), self.body.frame()).await;
            let frame = frame.unwrap_or_else(|_| panic!("no event in time after {}", self.text));
            let frame = frame.expect("the stream stays open").expect("a frame");
            self.text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
        }
    }
}

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|(name, ..)| name.as_str()).collect()
}

async fn run(client: &Client, thread: &str, text: &str) -> String {
    let body = json!({ "assistant_id": "chat", "input": { "messages": text }, "stream_mode": ["updates"] });
    let run = client.post(&format!("/threads/{thread}/runs"), body).await.ok();
    run["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn the_stream_of_a_thread_goes_over_its_runs() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let mut joined = Joined::open(&client, &thread, "", None).await;
    let mut ids = Vec::new();
    for text in ["one", "two"] {
        let id = run(&client, &thread, text).await;
        let found = joined.until_done().await;
        assert_eq!(names(&found), ["metadata", "updates", "updates", "metadata"]);
        assert_eq!(found[0].1, json!({ "run_id": id, "attempt": 1 }));
        assert_eq!(found[3].1, json!({ "run_id": id, "status": "run_done" }));
        ids.extend(found.into_iter().map(|(.., id)| id.expect("every event has an id")));
    }
    let mut distinct = ids.clone();
    distinct.dedup();
    assert_eq!(distinct.len(), 8);
}

#[tokio::test]
async fn modes_choose_the_events_of_a_thread() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let mut lifecycle = Joined::open(&client, &thread, "?stream_mode=lifecycle", None).await;
    let mut states = Joined::open(&client, &thread, "?stream_mode=state_update", None).await;
    let mut both =
        Joined::open(&client, &thread, "?stream_mode=lifecycle&stream_mode=state_update", None).await;
    run(&client, &thread, "one").await;
    assert_eq!(names(&lifecycle.until_done().await), ["metadata", "metadata"]);
    assert_eq!(names(&both.until_done().await), ["metadata", "state_update", "metadata"]);
    let state = states.until("Yours").await;
    assert_eq!(names(&state), ["state_update"]);
    assert_eq!(state[0].1["messages"].as_array().unwrap().len(), 3);
    let update = json!({ "values": { "messages": "by hand" } });
    client.post(&format!("/threads/{thread}/state"), update).await.ok();
    assert_eq!(names(&states.until("by hand").await), ["state_update"]);
}

#[tokio::test]
async fn a_client_comes_back_to_the_stream_of_a_thread() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let mut joined = Joined::open(&client, &thread, "", None).await;
    run(&client, &thread, "one").await;
    let first = joined.until_done().await;
    drop(joined);
    run(&client, &thread, "two").await;
    let last = first[1].2.as_deref();
    let mut again = Joined::open(&client, &thread, "", last).await;
    let mut found = again.until_done().await;
    assert_eq!(found, first[2..]);
    found = again.until_done().await;
    assert_eq!(names(&found), ["metadata", "updates", "updates", "metadata"]);
    // From the beginning.
    let mut all = Joined::open(&client, &thread, "", Some("-1")).await;
    assert_eq!(all.until_done().await, first);
}

#[tokio::test]
async fn a_stream_may_begin_within_a_run() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let body = json!({ "assistant_id": "slow", "input": { "name": "a" }, "stream_mode": ["updates"] });
    client.post(&format!("/threads/{thread}/runs"), body).await.ok();
    client.gate.begun(1).await;
    let mut joined = Joined::open(&client, &thread, "", None).await;
    client.gate.open(1);
    let found = joined.until_done().await;
    assert_eq!(names(&found), ["updates", "metadata"]);
}

#[tokio::test]
async fn bad_requests_for_the_stream_of_a_thread_are_refused() {
    let client = Client::new().await;
    client.get("/threads/01900000-0000-7000-8000-ffffffffffff/stream").await.refused(404);
    let thread = client.thread().await;
    let detail = client.get(&format!("/threads/{thread}/stream?stream_mode=values")).await.refused(422);
    assert!(detail.contains("run_modes"), "{detail}");
}

#[tokio::test]
async fn a_deleted_thread_ends_its_stream() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let mut joined = Joined::open(&client, &thread, "", None).await;
    assert_eq!(client.reply(Method::DELETE, &format!("/threads/{thread}"), None).await.status, 204);
    let ended = tokio::time::timeout(Duration::from_secs(10), joined.body.frame()).await.unwrap();
    assert!(ended.is_none());
}
