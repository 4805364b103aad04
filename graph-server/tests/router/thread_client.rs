//! A client of the second version of the protocol.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::client::Client;

/// An open stream of the events of a thread.
pub(crate) struct Events {
    body: Body,
    text: String,
    read: Vec<Value>,
}

impl Events {
    pub(crate) async fn open(client: &Client, thread: &str, request: Value) -> Self {
        let path = format!("/threads/{thread}/stream/events");
        let response = client.send(Method::POST, &path, Some(request), &[]).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        Self { body: response.into_body(), text: String::new(), read: Vec::new() }
    }

    /// All channels, from the beginning.
    pub(crate) async fn all(client: &Client, thread: &str) -> Self {
        let channels = json!([
            "values",
            "updates",
            "messages",
            "tools",
            "custom",
            "lifecycle",
            "input",
            "tasks",
            "checkpoints"
        ]);
        Self::open(client, thread, json!({ "channels": channels })).await
    }

    /// Reads up to the first event that fits, and returns the events up to it.
    pub(crate) async fn until(&mut self, is_last: impl Fn(&Value) -> bool) -> Vec<Value> {
        loop {
            if let Some(place) = self.read.iter().position(&is_last) {
                return self.read.drain(..=place).collect();
            }
            let frame = tokio::time::timeout(Duration::from_secs(10), self.body.frame()).await;
            let frame = frame.unwrap_or_else(|_| panic!("no event in time after {:?}", self.read));
            let frame = frame.expect("the stream stays open").expect("a frame");
            self.text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
            while let Some((frame, rest)) = self.text.split_once("\r\n\r\n") {
                if let Some(data) = frame.split("\r\n").find_map(|line| line.strip_prefix("data: ")) {
                    let event: Value = serde_json::from_str(data).expect("JSON");
                    let id = format!("id: {}", event["seq"]);
                    assert!(frame.ends_with(&id), "{frame}");
                    assert!(
                        frame.starts_with(&format!(
                            "event: {}\r\n",
                            event["method"].as_str().expect("a name")
                        ))
                    );
                    self.read.push(event);
                }
                self.text = rest.to_owned();
            }
        }
    }

    /// Reads up to the end of a run.
    pub(crate) async fn until_end(&mut self) -> Vec<Value> {
        self.until(is_end).await
    }
}

/// Returns `true` for the last event of a run.
pub(crate) fn is_end(event: &Value) -> bool {
    let kind = event["params"]["data"]["event"].as_str().unwrap_or_default();
    event["method"] == "lifecycle"
        && event["params"]["namespace"] == json!([])
        && ["completed", "failed", "interrupted"].contains(&kind)
}

pub(crate) fn data<'e>(events: &'e [Value], method: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["method"] == method).map(|event| &event["params"]["data"]).collect()
}

/// Sends a command, and returns the response.
pub(crate) async fn command(client: &Client, thread: &str, method: &str, params: Value) -> Value {
    let body = json!({ "id": 7, "method": method, "params": params });
    let reply = client.post(&format!("/threads/{thread}/commands"), body).await.ok();
    assert_eq!(reply["id"], 7);
    reply
}

/// Starts a run, and returns its id.
pub(crate) async fn start(client: &Client, thread: &str, params: Value) -> String {
    let reply = command(client, thread, "run.start", params).await;
    assert_eq!(reply["type"], "success", "{reply}");
    assert!(reply["meta"]["applied_through_seq"].is_u64(), "{reply}");
    reply["result"]["run_id"].as_str().expect("an id").to_owned()
}

/// The id of a thread that does not exist.
pub(crate) fn new_thread() -> String {
    // Tests of one process need different ids only.
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(1);
    format!("01900000-0000-7000-8000-0000{:08x}", NEXT.fetch_add(1, Ordering::Relaxed))
}
