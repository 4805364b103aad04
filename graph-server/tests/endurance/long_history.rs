//! Threads with many checkpoints.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::served::Served;

const STEPS: u64 = 10_000;

async fn thread_with(served: &Served, steps: u64) -> String {
    let thread = served.thread().await;
    let run = json!({
        "assistant_id": "steps", "input": { "left": steps }, "config": { "recursion_limit": steps + 10 },
    });
    let values = served.ok("POST", &format!("/threads/{thread}/runs/wait"), Some(run)).await;
    assert_eq!(values, json!({ "left": 0 }));
    thread
}

/// Returns the least time of some repetitions.
async fn least_time(served: &Served, path: &str, body: &Value) -> Duration {
    let mut least = Duration::MAX;
    for _ in 0..20 {
        let began = Instant::now();
        served.ok("POST", path, Some(body.clone())).await;
        least = least.min(began.elapsed());
    }
    least
}

#[tokio::test(flavor = "multi_thread")]
async fn page_of_a_history_costs_the_same_in_a_long_thread() {
    let served = Served::new().await;
    let (short, long) = (thread_with(&served, 50).await, thread_with(&served, STEPS).await);
    let page = json!({ "limit": 20 });
    let of_short = least_time(&served, &format!("/threads/{short}/history"), &page).await;
    let of_long = least_time(&served, &format!("/threads/{long}/history"), &page).await;
    // 200 times as many checkpoints.
    assert!(of_long < of_short * 10 + Duration::from_millis(5), "{of_short:?} and {of_long:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_of_a_history_have_each_checkpoint_once() {
    let served = Served::new().await;
    let thread = thread_with(&served, STEPS).await;
    let (mut seen, mut values, mut before) = (HashSet::new(), Vec::new(), Value::Null);
    loop {
        let page = json!({ "limit": 1_000, "before": before });
        let page = served.ok("POST", &format!("/threads/{thread}/history"), Some(page)).await;
        let states = page.as_array().expect("states");
        let Some(last) = states.last() else { break };
        before = json!({ "configurable": { "checkpoint_id": last["checkpoint"]["checkpoint_id"] } });
        for state in states {
            let id = state["checkpoint"]["checkpoint_id"].as_str().expect("an id").to_owned();
            assert!(seen.insert(id), "a checkpoint is listed twice");
            values.extend(state["values"]["left"].as_u64());
        }
    }
    // The input, its application and each step.
    assert_eq!(seen.len() as u64, STEPS + 2);
    assert_eq!(values.last(), Some(&STEPS));
    assert!(values.is_sorted(), "newest first");
    // The interface of chats asks for a thousand states.
    let page =
        served.ok("POST", &format!("/threads/{thread}/history"), Some(json!({ "limit": 1_000 }))).await;
    assert_eq!(page.as_array().expect("states").len(), 1_000);
}
