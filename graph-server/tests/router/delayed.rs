//! Runs with `after_seconds`. The clock of the runtime stands still until everything waits.

use axum::http::Method;
use serde_json::{Value, json};
use tokio::time::{Duration, Instant};

use crate::client::Client;

fn later(text: &str, seconds: u64) -> Value {
    json!({ "assistant_id": "fail", "input": { "text": text }, "after_seconds": seconds })
}

#[tokio::test(start_paused = true)]
async fn a_delayed_run_waits_for_its_time_and_lets_others_pass() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let begin = Instant::now();
    let delayed = client.post(&runs, later("late", 3_600)).await.ok();
    let id = delayed["run_id"].as_str().unwrap().to_owned();
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
    assert_eq!(client.get(&format!("{runs}/{id}")).await.ok()["status"], "pending");
    let now = json!({ "assistant_id": "fail", "input": { "text": "soon" } });
    assert_eq!(client.post(&format!("{runs}/wait"), now).await.ok()["text"], "soon");
    assert!(begin.elapsed() < Duration::from_secs(3_600));
    assert_eq!(client.get(&format!("{runs}/{id}/join")).await.ok()["text"], "late");
    assert!(begin.elapsed() >= Duration::from_secs(3_600));
    assert_eq!(client.get(&format!("{runs}/{id}")).await.ok()["status"], "success");
}

#[tokio::test(start_paused = true)]
async fn a_delayed_run_without_a_thread_is_executed_too() {
    let client = Client::new().await;
    let begin = Instant::now();
    assert_eq!(client.post("/runs/wait", later("late", 60)).await.ok()["text"], "late");
    assert!(begin.elapsed() >= Duration::from_secs(60));
    let streamed = client.post("/runs/stream", later("late", 60)).await;
    assert_eq!(streamed.events().last().unwrap().1, json!({ "text": "late" }));
}

#[tokio::test(start_paused = true)]
async fn a_delayed_run_is_cancelled_at_once() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let runs = format!("/threads/{thread}/runs");
    let begin = Instant::now();
    let first = client.post(&runs, later("a", 3_600)).await.ok();
    let id = first["run_id"].as_str().unwrap();
    client.reply(Method::POST, &format!("{runs}/{id}/cancel?wait=true"), None).await.ok();
    assert_eq!(client.get(&format!("{runs}/{id}")).await.ok()["status"], "interrupted");
    // A newer run replaces the one that waits.
    let second = client.post(&runs, later("b", 3_600)).await.ok();
    let mut third = later("c", 3_600);
    third["multitask_strategy"] = json!("rollback");
    let third = client.post(&runs, third).await.ok();
    let gone = format!("{runs}/{}", second["run_id"].as_str().unwrap());
    while client.get(&gone).await.status != 404 {
        tokio::task::yield_now().await;
    }
    assert!(begin.elapsed() < Duration::from_secs(3_600));
    let mut reject = later("d", 1);
    reject["multitask_strategy"] = json!("reject");
    client.post(&runs, reject).await.refused(409);
    let third = format!("{runs}/{}/join", third["run_id"].as_str().unwrap());
    assert_eq!(client.get(&third).await.ok()["text"], "c");
}

#[tokio::test(start_paused = true)]
async fn a_thread_with_a_delayed_run_can_be_changed_and_deleted() {
    let client = Client::new().await;
    let thread = client.thread().await;
    client.post(&format!("/threads/{thread}/runs"), later("a", 3_600)).await.ok();
    client.post(&format!("/threads/{thread}/state"), json!({ "values": { "text": "b" } })).await.ok();
    assert_eq!(client.reply(Method::DELETE, &format!("/threads/{thread}"), None).await.status, 204);
    client.get(&format!("/threads/{thread}")).await.refused(404);
}
