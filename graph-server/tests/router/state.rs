//! Reading, updating and forking the states of threads.

use serde_json::{Value, json};

use crate::client::Client;

async fn finished() -> (Client, String) {
    let client = Client::new().await;
    let thread = client.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    client.post(&path, json!({ "assistant_id": "order", "input": { "item": "tea" } })).await.ok();
    client.post(&path, json!({ "assistant_id": "order", "command": { "resume": true } })).await.ok();
    (client, thread)
}

async fn history(client: &Client, thread: &str, body: Value) -> Vec<Value> {
    let found = client.post(&format!("/threads/{thread}/history"), body).await.ok();
    found.as_array().unwrap().clone()
}

#[tokio::test]
async fn an_empty_thread_has_an_empty_state() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let state = client.get(&format!("/threads/{thread}/state?subgraphs=false")).await.ok();
    for (field, expected) in [
        ("values", json!({})),
        ("next", json!([])),
        ("tasks", json!([])),
        ("metadata", Value::Null),
        ("created_at", Value::Null),
        ("checkpoint", Value::Null),
        ("parent_checkpoint", Value::Null),
        ("interrupts", json!([])),
    ] {
        assert_eq!(state[field], expected, "{field}");
    }
    assert_eq!(history(&client, &thread, json!({})).await, [] as [Value; 0]);
}

#[tokio::test]
async fn checkpoints_are_read_by_their_ids() {
    let (client, thread) = finished().await;
    let states = history(&client, &thread, json!({ "limit": 100 })).await;
    let ids: Vec<_> = states.iter().map(|state| state["checkpoint_id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted_by(|newer, older| newer > older), "{ids:?}");
    assert!(ids.iter().all(|id| id.len() == 36), "{ids:?}");
    for state in &states {
        let id = state["checkpoint_id"].as_str().unwrap();
        let found = client.get(&format!("/threads/{thread}/state/{id}")).await.ok();
        assert_eq!(found, *state);
        let body = json!({ "checkpoint": { "checkpoint_id": id, "checkpoint_ns": "", "thread_id": thread } });
        assert_eq!(client.post(&format!("/threads/{thread}/state/checkpoint"), body).await.ok(), *state);
        assert!(!state.to_string().contains("4111-secret"), "{state}");
    }
    let latest = json!({ "checkpoint": { "thread_id": thread } });
    let latest = client.post(&format!("/threads/{thread}/state/checkpoint"), latest).await.ok();
    assert_eq!(latest, states[0]);
    for (newer, older) in states.iter().zip(states.iter().skip(1)) {
        assert_eq!(newer["parent_checkpoint"], older["checkpoint"]);
    }
    assert_eq!(states[4]["next"], json!(["__start__"]));
    assert_eq!(states[1]["tasks"][0]["result"], json!({ "log": ["shipped tea"] }));
}

#[tokio::test]
async fn histories_are_read_in_pages() {
    let (client, thread) = finished().await;
    let all = history(&client, &thread, json!({ "limit": 100 })).await;
    let first = history(&client, &thread, json!({ "limit": 2 })).await;
    assert_eq!(first, all[..2]);
    for before in [
        first[1]["checkpoint_id"].clone(),
        first[1]["checkpoint"].clone(),
        json!({ "configurable": first[1]["checkpoint"] }),
    ] {
        let rest = history(&client, &thread, json!({ "limit": 100, "before": before })).await;
        assert_eq!(rest, all[2..]);
    }
    let before = first[1]["checkpoint_id"].as_str().unwrap();
    let rest = client.get(&format!("/threads/{thread}/history?limit=1&before={before}")).await.ok();
    assert_eq!(rest, json!([all[2]]));
    let inputs =
        history(&client, &thread, json!({ "metadata": { "run_id": all[4]["metadata"]["run_id"] } })).await;
    assert!(inputs.len() < all.len() && !inputs.is_empty());
}

#[tokio::test]
async fn an_update_takes_the_place_of_a_node() {
    let (client, thread) = finished().await;
    let body = json!({ "values": { "log": ["again"] }, "as_node": "look_up" });
    let updated = client.post(&format!("/threads/{thread}/state"), body).await.ok();
    assert_eq!(updated["checkpoint"], updated["configurable"]);
    let state = client.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(state["checkpoint_id"], updated["checkpoint_id"]);
    assert_eq!(state["next"], json!(["ask"]));
    assert_eq!(state["metadata"]["source"], "update");
    for wrong in [
        json!({ "values": { "log": 7 }, "as_node": "look_up" }),
        json!({ "values": { "unknown": 7 }, "as_node": "look_up" }),
        json!({ "values": {}, "as_node": "nobody" }),
    ] {
        client.post(&format!("/threads/{thread}/state"), wrong).await.refused(422);
    }
    assert_eq!(client.get(&format!("/threads/{thread}/state")).await.ok(), state);
}

#[tokio::test]
async fn runs_fork_from_checkpoints() {
    let (client, thread) = finished().await;
    let all = history(&client, &thread, json!({ "limit": 100 })).await;
    let asked = all.iter().find(|state| state["next"] == json!(["ask"])).unwrap();
    let path = format!("/threads/{thread}/runs/wait");

    // New input on a branch.
    let mut body = json!({ "assistant_id": "order", "input": { "item": "milk" } });
    body["checkpoint"] = json!({ "checkpoint_id": asked["checkpoint_id"], "checkpoint_ns": "" });
    let values = client.post(&path, body).await.ok();
    assert_eq!(values["log"], json!(["found tea", "found milk"]));

    // The planned task runs again, and asks again.
    let body = json!({ "assistant_id": "order", "input": null, "checkpoint_id": asked["checkpoint_id"] });
    let values = client.post(&path, body).await.ok();
    assert_eq!(values["log"], json!(["found tea"]));
    assert_eq!(values["__interrupt__"][0]["value"]["item"], "tea");
    let done =
        client.post(&path, json!({ "assistant_id": "order", "command": { "resume": false } })).await.ok();
    assert_eq!(done["approved"], false);

    // An edit of an older state, and a run from there.
    let body = json!({ "values": { "log": ["edited"] }, "as_node": "look_up", "checkpoint": asked["parent_checkpoint"] });
    let edited = client.post(&format!("/threads/{thread}/state"), body).await.ok();
    let config = json!({ "configurable": { "checkpoint_id": edited["checkpoint_id"] } });
    let body = json!({ "assistant_id": "order", "input": null, "config": config });
    let values = client.post(&path, body).await.ok();
    assert_eq!(values["log"], json!(["edited"]));
    assert!(values["__interrupt__"].is_array());

    // The first branch is as it was.
    let id = all[0]["checkpoint_id"].as_str().unwrap();
    assert_eq!(client.get(&format!("/threads/{thread}/state/{id}")).await.ok()["values"], all[0]["values"]);
}

#[tokio::test]
async fn the_history_of_a_long_thread_is_read_in_pages() {
    let client = Client::new().await;
    let thread = client.thread().await;
    client.gate.open(100);
    for n in 0..30 {
        let body = json!({ "assistant_id": "slow", "input": { "name": n.to_string() } });
        client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    }
    let (mut before, mut seen) = (Value::Null, Vec::new());
    loop {
        let page = history(&client, &thread, json!({ "limit": 50, "before": before })).await;
        let Some(last) = page.last() else { break };
        before = last["checkpoint_id"].clone();
        seen.extend(page.iter().map(|state| state["checkpoint_id"].as_str().unwrap().to_owned()));
    }
    assert_eq!(seen.len(), 30 * 4);
    assert!(seen.is_sorted_by(|newer, older| newer > older));
}
