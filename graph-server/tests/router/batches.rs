//! Several runs in one request, and metadata by way of the state.

use std::future::poll_fn;
use std::task::Poll;

use axum::http::Method;
use serde_json::json;

use crate::client::Client;

#[tokio::test]
async fn runs_of_a_batch_are_all_accepted() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let run = |text: &str| json!({ "assistant_id": "fail", "input": { "text": text } });
    let mut on_thread = run("a");
    on_thread["thread_id"] = json!(thread);
    let mut kept = run("b");
    kept["on_completion"] = json!("keep");
    let runs = client.post("/runs/batch", json!([on_thread, kept, run("boom")])).await.ok();
    let runs = runs.as_array().unwrap();
    assert_eq!(runs.len(), 3);
    assert_eq!((&runs[0]["thread_id"], &runs[0]["status"]), (&json!(thread), &json!("pending")));
    for (run, text) in runs.iter().zip(["a", "b"]) {
        let (thread, id) = (run["thread_id"].as_str().unwrap(), run["run_id"].as_str().unwrap());
        assert_eq!(client.ended(thread, id).await["status"], "success");
        assert_eq!(client.get(&format!("/threads/{thread}/state")).await.ok()["values"]["text"], text);
    }
}

#[tokio::test]
async fn a_batch_with_a_bad_run_starts_nothing() {
    let client = Client::new().await;
    let good = json!({ "assistant_id": "fail", "input": { "text": "a" }, "on_completion": "keep" });
    let bad = json!({ "assistant_id": "fail", "input": { "text": 1 } });
    let detail = client.post("/runs/batch", json!([good, bad])).await.refused(422);
    assert!(detail.contains("`body[1]`") && detail.contains("$.text"), "{detail}");
    let detail = client.post("/runs/batch", json!([good, { "input": {} }, 7])).await.refused(422);
    assert!(detail.contains("`body[1].assistant_id`") && detail.contains("`body[2]`"), "{detail}");
    let unknown = "01890a5d-ac96-774b-bcce-b302099a8057";
    let nowhere = json!({ "assistant_id": "fail", "input": { "text": "a" }, "thread_id": unknown });
    client.post("/runs/batch", json!([good, nowhere])).await.refused(404);
    client.post("/runs/batch", json!({})).await.refused(422);
    assert_eq!(client.post("/threads/count", json!({})).await.ok(), 0);
    assert_eq!(client.post("/runs/batch", json!([])).await.ok(), json!([]));
}

#[tokio::test]
async fn metadata_are_patched_by_way_of_the_state() {
    let client = Client::new().await;
    let thread = client.post("/threads", json!({ "metadata": { "a": 1, "b": 1 } })).await.ok();
    let path = format!("/threads/{}", thread["thread_id"].as_str().unwrap());
    let patch = json!({ "metadata": { "b": 2 } });
    let patched = client.reply(Method::PATCH, &format!("{path}/state"), Some(patch.clone())).await;
    assert_eq!(patched.status, 204);
    assert_eq!(client.get(&path).await.ok()["metadata"], json!({ "a": 1, "b": 2 }));
    client.reply(Method::PATCH, &format!("{path}/state"), Some(json!({}))).await.refused(422);
    let unknown = "/threads/01890a5d-ac96-774b-bcce-b302099a8057/state";
    client.reply(Method::PATCH, unknown, Some(patch)).await.refused(404);
}

/// A client that disconnects, after any number of polls.
#[tokio::test]
async fn a_batch_that_is_dropped_is_accepted_completely_or_not_at_all() {
    for polls in 0..40 {
        let client = Client::new().await;
        let run = json!({ "assistant_id": "fail", "input": { "text": "a" }, "on_completion": "keep" });
        let body = json!([run, run, run]);
        let mut request = Box::pin(client.send(Method::POST, "/runs/batch", Some(body), &[]));
        let mut ended = false;
        for _ in 0..polls {
            ended = poll_fn(|cx| Poll::Ready(request.as_mut().poll(cx).is_ready())).await;
            if ended {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(request);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        let threads = client.post("/threads/count", json!({})).await.ok();
        assert!(threads == 3 || (threads == 0 && !ended), "after {polls} polls: {threads}");
        if ended {
            return;
        }
    }
    panic!("the request does not end");
}
