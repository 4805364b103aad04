use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::Request;
use serde_json::{Value, json};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::{Context, ContextWith, END, GraphState, Result, START, StateGraph};
use tokio::sync::Notify;
use tower::ServiceExt as _;

use super::recorder::Recorder;
use crate::refusing_store::RefusingStore;
use crate::{Server, Started};

/// A value that no log may have.
const PRIVATE: &str = "the moon is private";

#[derive(GraphState, Clone)]
struct Note {
    #[state(input)]
    text: String,
    seen: bool,
}

#[derive(Debug, thiserror::Error)]
#[error("cannot read: {0}")]
struct Unreadable(String);

async fn read(note: &Note, cx: &ContextWith<Gate>) -> Result<NoteUpdate> {
    if note.text.starts_with("bad") {
        return Err(Unreadable(note.text.clone()).into());
    }
    if note.text.starts_with("wait") {
        cx.context().begun.notify_one();
        cx.context().opened.notified().await;
    }
    Ok(Note::update().seen(true))
}

async fn keep(_: &Note, _: &Context) {}

#[derive(Clone, Default)]
struct Gate {
    begun: Arc<Notify>,
    opened: Arc<Notify>,
}

type Stores = (MemoryCheckpointer, RefusingStore);

async fn start(stores: &Stores, gate: &Gate) -> Started {
    let graph = StateGraph::<Note>::with_context::<Gate>();
    let graph = graph.edge(START, read).edge(read, keep).edge(keep, END).compile().unwrap();
    let gate = gate.clone();
    let server = Server::new().graph_with_context("notes", graph, move |_| Ok(gate.clone()));
    let server = server.checkpointer(stores.0.clone()).store(stores.1.long_term()).api_key("a private key");
    server.start().await.unwrap()
}

async fn new() -> (Stores, Started) {
    let stores = (MemoryCheckpointer::new(), RefusingStore::new());
    let started = start(&stores, &Gate::default()).await;
    (stores, started)
}

async fn post(routes: &Router, path: &str, body: Value) -> (u16, Value) {
    let request = Request::post(path).header("x-api-key", "a private key").body(Body::from(body.to_string()));
    let response = routes.clone().oneshot(request.unwrap()).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

async fn thread(routes: &Router) -> String {
    let (_, thread) = post(routes, "/threads", json!({})).await;
    thread["thread_id"].as_str().unwrap().to_owned()
}

fn run(text: &str) -> Value {
    json!({ "assistant_id": "notes", "input": { "text": format!("{text}: {PRIVATE}") } })
}

const REQUEST: [&str; 3] = ["http.request.method", "http.route", "http.response.status_code"];
const RUN: [&str; 3] = ["gen_ai.agent.name", "graph.run.status", "error.type"];

#[track_caller]
fn assert_private(log: &Recorder) {
    for word in ["moon", "private"] {
        assert!(!log.text().contains(word), "{}", log.text());
    }
}

#[tokio::test]
async fn a_good_run_is_accepted_started_and_ended() {
    let (log, _guard) = Recorder::start();
    let routes = new().await.1.router();
    let thread = thread(&routes).await;
    let (status, _) = post(&routes, &format!("/threads/{thread}/runs/wait"), run("good")).await;
    assert_eq!(status, 200);
    assert_eq!(log.lines(&["server"], &["graphs"]), ["INFO server.started 1"]);
    assert_eq!(
        log.lines(&["run."], &RUN),
        ["INFO run.accepted notes", "INFO run.started notes", "INFO run.ended notes success"]
    );
    assert_eq!(
        log.lines(&["request."], &REQUEST),
        [
            "INFO request.finished POST /threads 200",
            "INFO request.finished POST /threads/{thread}/runs/wait 200",
        ]
    );
    // The lines of a run and of its request are found by their ids.
    let events = log.events(&["run."]);
    let id = &events[0].fields["graph.run.id"];
    for event in &events {
        assert_eq!((&event.fields["graph.run.id"], &event.fields["gen_ai.conversation.id"]), (id, &thread));
    }
    assert_eq!(events[1].spans["graph.run.id"], *id);
    let request = log.events(&["request."]).pop().unwrap();
    assert_eq!(request.spans["gen_ai.conversation.id"], thread);
    assert_eq!(events[0].spans["request.id"], request.spans["request.id"]);
    assert!(request.fields.contains_key("duration_s") && events[2].fields.contains_key("duration_s"));
    assert_private(&log);
}

#[tokio::test]
async fn a_failed_run_has_the_type_of_its_error() {
    let (log, _guard) = Recorder::start();
    let routes = new().await.1.router();
    let thread = thread(&routes).await;
    post(&routes, &format!("/threads/{thread}/runs/wait"), run("bad")).await;
    assert_eq!(
        log.lines(&["run."], &RUN),
        ["INFO run.accepted notes", "INFO run.started notes", "ERROR run.ended notes error Unreadable"]
    );
    assert_private(&log);
}

#[tokio::test]
async fn refused_requests_are_warnings() {
    let (log, _guard) = Recorder::start();
    let routes = new().await.1.router();
    post(&routes, "/runs/wait", json!({ "assistant_id": "notes", "input": { "text": [PRIVATE] } })).await;
    post(&routes, "/moon", json!({})).await;
    let unknown = Request::post("/runs/wait").header("x-api-key", "private").body(Body::empty()).unwrap();
    routes.clone().oneshot(unknown).await.unwrap();
    assert_eq!(
        log.lines(&["request.", "run."], &REQUEST),
        [
            "WARN request.finished POST /runs/wait 422",
            "WARN request.finished POST  404",
            "WARN request.finished POST /runs/wait 401",
        ]
    );
    assert_private(&log);
}

#[tokio::test]
async fn a_store_that_fails_is_an_error() {
    let (log, _guard) = Recorder::start();
    let (stores, started) = new().await;
    stores.1.refuse("");
    let (status, _) = post(&started.router(), "/threads", json!({ "metadata": { "text": PRIVATE } })).await;
    assert_eq!(status, 500);
    assert_eq!(
        log.lines(&["store.", "request."], &["error.type", "io_error", "http.response.status_code"]),
        ["ERROR store.failed StoreError storage full", "ERROR request.finished 500"]
    );
    assert_private(&log);
}

#[tokio::test]
async fn a_run_is_handed_over_and_taken_up() {
    let (log, _guard) = Recorder::start();
    let (stores, gate) = ((MemoryCheckpointer::new(), RefusingStore::new()), Gate::default());
    let first = start(&stores, &gate).await;
    let routes = first.router();
    let thread = thread(&routes).await;
    let (_, accepted) = post(&routes, &format!("/threads/{thread}/runs"), run("wait")).await;
    gate.begun.notified().await;
    let stopping = async {
        // The node ends when the server has begun to stop.
        tokio::task::yield_now().await;
        gate.opened.notify_one();
    };
    tokio::join!(first.shutdown(std::time::Duration::from_secs(10)), stopping);
    drop((first, routes));
    let second = start(&stores, &gate).await;
    let run = accepted["run_id"].as_str().unwrap();
    let path = format!("/threads/{thread}/runs/{run}/join");
    let request = Request::get(path).header("x-api-key", "a private key").body(Body::empty()).unwrap();
    let response = second.router().oneshot(request).await.unwrap();
    to_bytes(response.into_body(), usize::MAX).await.unwrap();
    assert_eq!(
        log.lines(&["server.", "run."], &["graph.run.status", "graph.run.attempt", "running_runs"]),
        [
            "INFO server.started",
            "INFO run.accepted",
            "INFO run.started",
            "INFO server.stopping 1",
            "INFO run.handed_over",
            "INFO server.stopped 0",
            "WARN run.taken_up 2",
            "INFO server.started",
            "INFO run.started",
            "INFO run.ended success",
        ]
    );
    assert!(log.events(&["run."]).iter().all(|event| event.fields["graph.run.id"] == run));
    assert_private(&log);
}
