//! Graphs with subgraphs.

use serde_json::{Value, json};

use crate::client::Client;

async fn streamed(subgraphs: bool) -> (Client, String, Vec<(String, Value)>) {
    let client = Client::new().await;
    let thread = client.thread().await;
    let body = json!({
        "assistant_id": "nested", "input": { "item": "tea" }, "stream_mode": ["updates", "custom"],
        "stream_subgraphs": subgraphs,
    });
    let events = client.post(&format!("/threads/{thread}/runs/stream"), body).await.events();
    (client, thread, events.into_iter().skip(1).map(|(name, data, _)| (name, data)).collect())
}

#[tokio::test]
async fn events_inside_name_the_task_of_the_call() {
    let (client, thread, events) = streamed(true).await;
    let state = client.get(&format!("/threads/{thread}/state?subgraphs=true")).await.ok();
    let task = state["tasks"][0]["id"].as_str().unwrap();
    assert_eq!(events[0], (format!("custom|inner:{task}"), json!({ "looking_up": "tea" })));
    assert_eq!(events[1].0, format!("updates|inner:{task}"));
    assert_eq!(events[2].0, "updates");

    let inner = &state["tasks"][0]["state"];
    assert_eq!(inner["checkpoint"]["checkpoint_ns"], format!("inner:{task}"));
    assert_eq!((&inner["next"], &inner["values"]["log"]), (&json!(["ask"]), &json!(["found tea"])));
    assert_eq!(inner["interrupts"], state["interrupts"]);
    let body = json!({ "checkpoint": state["tasks"][0]["checkpoint"], "subgraphs": true });
    let by_name = client.post(&format!("/threads/{thread}/state/checkpoint"), body).await.ok();
    assert_eq!(by_name, *inner);
    let body = json!({ "checkpoint": { "checkpoint_ns": format!("inner:{task}") } });
    let history = client.post(&format!("/threads/{thread}/history"), body).await.ok();
    assert_eq!(history[0]["checkpoint"], inner["checkpoint"]);
    assert!(history.as_array().unwrap().len() > 1);

    let plain = client.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(plain["tasks"][0]["state"], Value::Null);
    assert_eq!(plain["tasks"][0]["checkpoint"], state["tasks"][0]["checkpoint"]);
}

#[tokio::test]
async fn events_inside_are_left_out_by_default() {
    let (client, thread, events) = streamed(false).await;
    assert_eq!(events.len(), 1, "{events:?}");
    let body = json!({ "assistant_id": "nested", "command": { "resume": true } });
    let done = client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    assert_eq!(done["log"], json!(["found tea", "approved: true", "shipped tea"]));
}
