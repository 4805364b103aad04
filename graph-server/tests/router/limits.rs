//! Limits for each caller.

use axum::http::Method;
use serde_json::json;
use superstep_server::{AuthError, AuthRequest, Identity};
use tokio::time::{Duration, advance};
use tokio_tungstenite::connect_async;

use crate::client::{Client, read, server};
use crate::graphs::Gate;
use crate::isolation::As;
use crate::thread_socket::{Socket, serve};

async fn recognize(request: AuthRequest) -> Result<Identity, AuthError> {
    let name = request.bearer_token().ok_or_else(|| AuthError::unauthenticated("who is it?"))?;
    Ok(Identity::new(name))
}

#[tokio::test(start_paused = true)]
async fn requests_over_the_rate_are_refused_for_a_while() {
    let gate = Gate::new();
    let client = Client::of(server(&gate).rate_limit(1, 5).authenticate(recognize), gate).await;
    let (ann, bob) = (As(&client, "ann"), As(&client, "bob"));
    for _ in 0..5 {
        ann.get("/info").await.ok();
    }
    let refused = ann.get("/info").await;
    assert!(refused.refused(429).contains("too many requests"));
    assert_eq!(refused.header("retry-after"), "1");
    bob.get("/info").await.ok();
    client.get("/ok").await.ok();
    advance(Duration::from_secs(1)).await;
    ann.get("/info").await.ok();
    ann.get("/info").await.refused(429);
    // Those who are not recognized share the rate of their address.
    for status in [401, 401, 401, 401, 401, 429] {
        client.get("/info").await.refused(status);
    }
    bob.get("/info").await.ok();
}

#[tokio::test]
async fn streams_over_the_limit_are_refused_before_a_run_starts() {
    let gate = Gate::new();
    let client = Client::of(server(&gate).stream_limit(3, 2).authenticate(recognize), gate).await;
    let (ann, bob) = (As(&client, "ann"), As(&client, "bob"));
    let run = |name: &str| Some(json!({ "assistant_id": "slow", "input": { "name": name } }));
    let thread = ann.post("/threads", json!({})).await.ok()["thread_id"].as_str().unwrap().to_owned();
    let runs = format!("/threads/{thread}/runs");
    let first = ann.send(Method::POST, &format!("{runs}/stream"), run("a")).await;
    let second = ann.send(Method::POST, &format!("{runs}/wait"), run("b")).await;
    let refused = read(ann.send(Method::POST, &format!("{runs}/stream"), run("c")).await).await;
    assert!(refused.refused(429).contains("streams"), "{}", refused.text);
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(ann.get(&runs).await.ok().as_array().unwrap().len(), 2);
    let third = bob.send(Method::POST, "/runs/stream", run("d")).await;
    assert_eq!(bob.send(Method::POST, "/runs/stream", run("e")).await.status(), 429);
    // A client that has gone makes room, as does a response at its end.
    drop(third);
    let fourth = bob.send(Method::POST, "/runs/stream", run("f")).await;
    assert_eq!(fourth.status(), 200);
    client.gate.open(10);
    assert_eq!(read(second).await.ok()["log"].as_array().map(Vec::len), Some(4));
    for response in [first, fourth] {
        assert_eq!(read(response).await.status, 200);
    }
    for _ in 0..5 {
        bob.post("/runs/wait", json!({ "assistant_id": "fail", "input": { "text": "fine" } })).await.ok();
    }
}

/// A WebSocket is a stream until it is closed.
#[tokio::test]
async fn sockets_over_the_limit_are_refused() {
    let gate = Gate::new();
    let client = Client::of(server(&gate).stream_limit(10, 1), gate).await;
    let address = format!("{}/threads/{}/stream/events", serve(&client).await, client.thread().await);
    let first = connect_async(&address).await.unwrap();
    let refused = connect_async(&address).await.unwrap_err();
    assert!(refused.to_string().contains("429"), "{refused}");
    drop(first);
    while connect_async(&address).await.is_err() {
        tokio::task::yield_now().await;
    }
}

/// The commands of a WebSocket are requests as well.
#[tokio::test]
async fn commands_over_the_rate_are_refused() {
    let gate = Gate::new();
    let client = Client::of(server(&gate).rate_limit(1, 3), gate).await;
    let address = serve(&client).await;
    let mut socket = Socket::open(&address, &client.thread().await).await;
    let mut refused = Vec::new();
    for id in 1..=4 {
        let reply = socket.reply(id, "agent.getTree", json!({})).await;
        refused.push(reply["message"].as_str().unwrap().contains("too many requests"));
    }
    // The thread and the connection are the first two requests.
    assert_eq!(refused[..2], [false, true], "{refused:?}");
}
