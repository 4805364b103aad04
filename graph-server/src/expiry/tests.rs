use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use serde_json::{Value, json};
use superstep::{END, GraphState, START, StateGraph};
use tower::ServiceExt as _;

use super::*;
use crate::Server;
use crate::refusing_store::RefusingStore;

#[derive(GraphState, Clone)]
struct Note {
    #[state(input)]
    text: String,
}

async fn keep(_: &Note) {}

async fn start() -> (Arc<App>, Router) {
    start_on(&RefusingStore::new()).await
}

async fn start_on(store: &RefusingStore) -> (Arc<App>, Router) {
    let graph = StateGraph::<Note>::new().edge(START, keep).edge(keep, END).compile().unwrap();
    let started = Server::new().graph("note", graph).store(store.long_term()).start().await.unwrap();
    (Arc::clone(started.app()), started.router())
}

async fn call(routes: &Router, method: Method, path: &str, body: Value) -> (u16, Value) {
    let request = Request::builder().method(method).uri(path).body(Body::from(body.to_string())).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    let status = response.status().as_u16();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

/// Creates a thread with a run, and returns its path.
async fn thread(routes: &Router, strategy: &str) -> String {
    let body = json!({ "ttl": { "ttl": 5, "strategy": strategy } });
    let (_, thread) = call(routes, Method::POST, "/threads", body).await;
    let path = format!("/threads/{}", thread["thread_id"].as_str().unwrap());
    let run = json!({ "assistant_id": "note", "input": { "text": "a" } });
    assert_eq!(call(routes, Method::POST, &format!("{path}/runs/wait"), run).await.0, 200);
    path
}

fn minutes(minutes: u64) -> Timestamp {
    Timestamp::now().after(Duration::from_secs(60 * minutes))
}

#[tokio::test]
async fn threads_are_deleted_at_the_end_of_their_time() {
    let (app, routes) = start().await;
    let path = thread(&routes, "delete").await;
    pass(&app, minutes(4)).await.unwrap();
    assert_eq!(call(&routes, Method::GET, &path, Value::Null).await.0, 200);
    pass(&app, minutes(6)).await.unwrap();
    assert_eq!(call(&routes, Method::GET, &path, Value::Null).await.0, 404);
}

#[tokio::test]
async fn threads_keep_their_latest_state_at_the_end_of_their_time() {
    let (app, routes) = start().await;
    let path = thread(&routes, "keep_latest").await;
    let states = async || {
        let (status, states) = call(&routes, Method::GET, &format!("{path}/history"), Value::Null).await;
        assert_eq!(status, 200);
        states.as_array().unwrap().len()
    };
    assert!(states().await > 1);
    pass(&app, minutes(6)).await.unwrap();
    assert_eq!(states().await, 1);
    let (_, found) = call(&routes, Method::GET, &path, Value::Null).await;
    assert_eq!(found["values"]["text"], "a");
}

#[tokio::test]
async fn a_delayed_run_keeps_its_thread() {
    let (app, routes) = start().await;
    let path = thread(&routes, "delete").await;
    let run = json!({ "assistant_id": "note", "input": { "text": "b" }, "after_seconds": 3_600 });
    let (_, run) = call(&routes, Method::POST, &format!("{path}/runs"), run).await;
    pass(&app, minutes(6)).await.unwrap();
    let (status, found) =
        call(&routes, Method::GET, &format!("{path}/runs/{}", run["run_id"].as_str().unwrap()), Value::Null)
            .await;
    assert_eq!((status, &found["status"]), (200, &json!("pending")));
}

#[tokio::test]
async fn a_thread_that_cannot_be_deleted_does_not_keep_the_others() {
    let store = RefusingStore::new();
    let (app, routes) = start_on(&store).await;
    let first = thread(&routes, "delete").await;
    let second = thread(&routes, "delete").await;
    store.refuse(first.trim_start_matches("/threads/"));
    pass(&app, minutes(6)).await.unwrap_err();
    assert_eq!(call(&routes, Method::GET, &second, Value::Null).await.0, 404);
    store.accept();
    pass(&app, minutes(6)).await.unwrap();
    assert_eq!(call(&routes, Method::GET, &first, Value::Null).await.0, 404);
}

#[tokio::test]
async fn threads_that_are_kept_do_not_keep_the_others() {
    let (app, routes) = start().await;
    for _ in 0..2 * BATCH {
        let path = thread(&routes, "delete").await;
        let run = json!({ "assistant_id": "note", "input": { "text": "b" }, "after_seconds": 3_600 });
        assert_eq!(call(&routes, Method::POST, &format!("{path}/runs"), run).await.0, 200);
    }
    let last = thread(&routes, "delete").await;
    pass(&app, minutes(6)).await.unwrap();
    assert_eq!(call(&routes, Method::GET, &last, Value::Null).await.0, 404);
}
