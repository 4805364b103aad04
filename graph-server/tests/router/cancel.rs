//! Cancelling runs.

use std::future::poll_fn;
use std::task::Poll;

use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::client::{Client, read};

fn slow(name: &str) -> Value {
    json!({ "assistant_id": "slow", "input": { "name": name } })
}

async fn busy() -> (Client, String, String) {
    let client = Client::new().await;
    let thread = client.thread().await;
    let run = client.post(&format!("/threads/{thread}/runs"), slow("a")).await.ok();
    client.gate.begun(1).await;
    (client, thread, run["run_id"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn interrupt_keeps_the_work() {
    let (client, thread, run) = busy().await;
    let path = format!("/threads/{thread}/runs/{run}");
    let cancelled = client.reply(Method::POST, &format!("{path}/cancel?wait=1&reason=bored"), None).await;
    assert_eq!(cancelled.ok(), json!({}));
    let found = client.get(&path).await.ok();
    assert_eq!((&found["status"], &found["cancel_reason"]), (&json!("interrupted"), &json!("bored")));
    let shown = client.get(&format!("/threads/{thread}")).await.ok();
    assert_eq!(
        (&shown["status"], &shown["error"]["error"]),
        (&json!("interrupted"), &json!("UserInterrupt"))
    );
    assert_eq!(shown["values"]["log"], json!(["a begins"]));
    client.reply(Method::POST, &format!("{path}/cancel"), None).await.refused(404);
    // The thread continues where it stopped.
    client.gate.open(1);
    let on = client.post(&format!("/threads/{thread}/runs/wait"), json!({ "assistant_id": "slow" })).await;
    assert_eq!(on.ok()["log"], json!(["a begins", "a done"]));
}

#[tokio::test]
async fn rollback_removes_the_run_and_its_checkpoints() {
    let (client, thread, run) = busy().await;
    client.gate.open(1);
    client.ended(&thread, &run).await;
    let before = client.get(&format!("/threads/{thread}/state")).await.ok();
    let second = client.post(&format!("/threads/{thread}/runs"), slow("b")).await.ok();
    client.gate.begun(2).await;
    let path = format!("/threads/{thread}/runs/{}", second["run_id"].as_str().unwrap());
    let cancelled =
        client.reply(Method::POST, &format!("{path}/cancel?wait=true&action=rollback"), None).await;
    assert_eq!(cancelled.status, 200);
    client.get(&path).await.refused(404);
    assert_eq!(client.get(&format!("/threads/{thread}/state")).await.ok(), before);
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
    assert_eq!(client.get(&format!("/threads/{thread}/runs")).await.ok().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_waiting_run_is_cancelled_at_once() {
    let (client, thread, first) = busy().await;
    let waiting = client.post(&format!("/threads/{thread}/runs"), slow("b")).await.ok();
    let path = format!("/threads/{thread}/runs/{}", waiting["run_id"].as_str().unwrap());
    assert_eq!(client.reply(Method::POST, &format!("{path}/cancel?wait=1"), None).await.status, 200);
    assert_eq!(client.get(&path).await.ok()["status"], "interrupted");
    assert_eq!(client.get(&format!("/threads/{thread}/runs/{first}")).await.ok()["status"], "running");
    client.gate.open(1);
    client.ended(&thread, &first).await;
}

#[tokio::test]
async fn many_runs_are_cancelled_together() {
    let (client, thread, first) = busy().await;
    let waiting = client.post(&format!("/threads/{thread}/runs"), slow("b")).await.ok();
    let all = json!({ "thread_id": thread, "status": "all" });
    assert_eq!(client.post("/runs/cancel?action=interrupt", all).await.status, 204);
    for run in [&first, waiting["run_id"].as_str().unwrap()] {
        assert_eq!(client.ended(&thread, run).await["status"], "interrupted");
    }
    client.post("/runs/cancel", json!({})).await.refused(422);
}

#[tokio::test]
async fn deleting_a_thread_ends_its_runs() {
    let (client, thread, _) = busy().await;
    client.post(&format!("/threads/{thread}/runs"), slow("b")).await.ok();
    assert_eq!(client.reply(Method::DELETE, &format!("/threads/{thread}"), None).await.status, 204);
    client.get(&format!("/threads/{thread}")).await.refused(404);
}

/// Waits until a run has this status.
async fn becomes(client: &Client, path: &str, status: &str) {
    for _ in 0..2_000 {
        if client.get(path).await.ok()["status"] == status {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    panic!("the run does not become {status}");
}

#[tokio::test]
async fn a_client_that_disconnects_cancels_only_if_it_says_so() {
    for (kind, on_disconnect, expected) in [
        ("stream", "cancel", "interrupted"),
        ("stream", "continue", "success"),
        ("wait", "cancel", "interrupted"),
        ("wait", "continue", "success"),
    ] {
        let client = Client::new().await;
        let thread = client.thread().await;
        let mut body = slow("a");
        body["on_disconnect"] = json!(on_disconnect);
        let path = format!("/threads/{thread}/runs/{kind}");
        let response = client.send(Method::POST, &path, Some(body), &[]).await;
        let run = response.headers()["content-location"].to_str().unwrap().to_owned();
        client.gate.begun(1).await;
        drop(response);
        if on_disconnect == "continue" {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            client.gate.open(1);
        }
        becomes(&client, &run, expected).await;
    }
}

#[tokio::test]
async fn a_joined_run_is_cancelled_if_the_client_says_so() {
    let (client, thread, run) = busy().await;
    let path = format!("/threads/{thread}/runs/{run}");
    drop(client.send(Method::GET, &format!("{path}/stream"), None, &[]).await);
    let response =
        client.send(Method::GET, &format!("{path}/stream?cancel_on_disconnect=1"), None, &[]).await;
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    assert_eq!(client.get(&path).await.ok()["status"], "running");
    drop(response);
    becomes(&client, &path, "interrupted").await;
}

/// A client that disconnects while its request is handled, after any number of polls.
#[tokio::test]
async fn a_request_that_is_dropped_is_accepted_completely_or_not_at_all() {
    for polls in 0..40 {
        let client = Client::new().await;
        let thread = client.thread().await;
        let mut body = slow("a");
        body["on_disconnect"] = json!("cancel");
        let path = format!("/threads/{thread}/runs/stream");
        let ended = {
            let mut request = Box::pin(client.send(Method::POST, &path, Some(body), &[]));
            let mut ended = false;
            for _ in 0..polls {
                let polled = poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_ready())).await;
                if polled {
                    ended = true;
                    break;
                }
                tokio::task::yield_now().await;
            }
            ended
        };
        // Whatever was accepted ends, because its client is gone; and the thread takes the next run.
        for _ in 0..2_000 {
            let runs = client.get(&format!("/threads/{thread}/runs")).await.ok();
            let open = |run: &Value| run["status"] == "running" || run["status"] == "pending";
            if !runs.as_array().unwrap().iter().any(open) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
        }
        client.gate.open(1);
        let next = client.post(&format!("/threads/{thread}/runs/wait"), slow("b")).await.ok();
        let log = next["log"].as_array().unwrap();
        assert_eq!(log.last().unwrap(), "b done", "after {polls} polls: {next}");
        if ended {
            return;
        }
    }
    panic!("the request does not end");
}

/// Requests that change a thread, dropped after any number of polls.
#[tokio::test]
async fn changes_that_are_dropped_are_made_completely_or_not_at_all() {
    for polls in 0..30 {
        let client = Client::new().await;
        let thread = client.thread().await;
        client.gate.open(1);
        client.post(&format!("/threads/{thread}/runs/wait"), slow("a")).await.ok();
        let body = json!({ "values": { "log": ["by hand"] }, "as_node": "work" });
        let ended = {
            let path = format!("/threads/{thread}/state");
            let mut request = Box::pin(client.send(Method::POST, &path, Some(body), &[]));
            let mut ended = false;
            for _ in 0..polls {
                ended = poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_ready())).await;
                if ended {
                    break;
                }
                tokio::task::yield_now().await;
            }
            ended
        };
        // The thread takes the next run, after the update if there was one.
        client.gate.open(1);
        let done = client.post(&format!("/threads/{thread}/runs/wait"), slow("b")).await.ok();
        let (with, without) = (
            json!(["a begins", "a done", "by hand", "b begins", "b done"]),
            json!(["a begins", "a done", "b begins", "b done"]),
        );
        assert!(done["log"] == with || (done["log"] == without && !ended), "after {polls} polls: {done}");
        assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
        if ended {
            return;
        }
    }
    panic!("the request does not end");
}

#[tokio::test]
async fn headers_come_before_the_run_ends() {
    let client = Client::new().await;
    let thread = client.thread().await;
    for kind in ["stream", "wait"] {
        let path = format!("/threads/{thread}/runs/{kind}");
        let mut response = client.send(Method::POST, &path, Some(slow("a")), &[]).await;
        assert!(response.headers().contains_key("content-location"));
        if kind == "stream" {
            let first = response.body_mut().frame().await.unwrap().unwrap();
            let first = String::from_utf8(first.into_data().unwrap().to_vec()).unwrap();
            assert!(first.starts_with("event: metadata\r\n"), "{first}");
        }
        client.gate.open(1);
        read(response).await;
    }
}

/// A run that has not begun leaves its thread as it is.
#[tokio::test]
async fn cancelling_a_run_that_waits_does_not_change_its_thread() {
    for action in ["interrupt", "rollback"] {
        let (client, thread, first) = busy().await;
        let path = format!("/threads/{thread}");
        let mut later = slow("c");
        later["after_seconds"] = json!(3_600);
        for (waiting, status) in [(slow("b"), "busy"), (later, "idle")] {
            if status == "idle" {
                client.gate.open(1);
                client.ended(&thread, &first).await;
            }
            let run = client.post(&format!("{path}/runs"), waiting).await.ok();
            let run = run["run_id"].as_str().unwrap();
            let cancel = format!("{path}/runs/{run}/cancel?wait=1&action={action}");
            client.reply(Method::POST, &cancel, None).await.ok();
            let shown = client.get(&path).await.ok();
            assert_eq!((&shown["status"], &shown["error"]), (&json!(status), &json!(null)), "{action}");
        }
    }
}

/// The checkpoints before a run are those to which it may be rolled back.
#[tokio::test]
async fn a_thread_is_not_pruned_under_a_run() {
    let (client, thread, run) = busy().await;
    client.gate.open(1);
    client.ended(&thread, &run).await;
    let state = format!("/threads/{thread}/state");
    let before = client.get(&state).await.ok();
    let second = client.post(&format!("/threads/{thread}/runs"), slow("b")).await.ok();
    client.gate.begun(2).await;
    let prune = json!({ "thread_ids": [thread], "strategy": "keep_latest" });
    assert_eq!(client.post("/threads/prune", prune.clone()).await.ok(), json!({ "pruned_count": 0 }));
    let path = format!("/threads/{thread}/runs/{}", second["run_id"].as_str().unwrap());
    client.reply(Method::POST, &format!("{path}/cancel?wait=true&action=rollback"), None).await.ok();
    assert_eq!(client.get(&state).await.ok(), before);
    // The run has its place until its worker has seen its end.
    while client.post("/threads/prune", prune.clone()).await.ok() != json!({ "pruned_count": 1 }) {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.get(&state).await.ok()["values"], before["values"]);
}

#[tokio::test]
async fn a_list_with_an_unknown_run_cancels_nothing() {
    let (client, thread, run) = busy().await;
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    let body = json!({ "thread_id": thread, "run_ids": [run, unknown] });
    client.post("/runs/cancel", body).await.refused(404);
    client.gate.open(1);
    assert_eq!(client.ended(&thread, &run).await["status"], "success");
}
