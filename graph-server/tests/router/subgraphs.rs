//! Graphs with subgraphs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::client::Client;
use crate::thread_client::{Events, new_thread, start};

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

/// Checks that the events inside each call of a trip are about one city, and that the calls have namespaces of their own.
fn check_calls(events: &[(Vec<String>, Value)]) {
    let mut cities: BTreeMap<&[String], BTreeSet<&str>> = BTreeMap::new();
    for (namespace, data) in events.iter().filter(|(namespace, _)| !namespace.is_empty()) {
        let looking = data.get("payload").unwrap_or(data).get("looking_up");
        let city = looking.or_else(|| data.get("item")).unwrap_or_else(|| panic!("no city in {data}"));
        for length in 1..=namespace.len() {
            cities.entry(&namespace[..length]).or_default().insert(city.as_str().unwrap());
        }
    }
    for length in [1, 2] {
        let calls: Vec<_> = cities.iter().filter(|(call, _)| call.len() == length).collect();
        let found: BTreeSet<_> = calls.iter().flat_map(|(_, cities)| (*cities).clone()).collect();
        assert_eq!((calls.len(), found.len()), (3, 3), "{cities:?}");
        assert!(calls.iter().all(|(_, cities)| cities.len() == 1), "{cities:?}");
    }
}

#[tokio::test]
async fn parallel_calls_of_a_node_have_namespaces_of_their_own() {
    let client = Client::new().await;
    for graph in ["trip", "unstored_trip"] {
        let thread = client.thread().await;
        let body = json!({
            "assistant_id": graph, "input": { "cities": ["Rome", "Oslo", "Bern"] },
            "stream_mode": ["values", "custom"], "stream_subgraphs": true,
        });
        let events = client.post(&format!("/threads/{thread}/runs/stream"), body).await.events();
        let events: Vec<_> = events
            .into_iter()
            .skip(1)
            .map(|(name, data, _)| (name.split('|').skip(1).map(str::to_owned).collect(), data))
            .collect();
        check_calls(&events);
    }
}

#[tokio::test]
async fn parallel_calls_are_told_apart_in_the_events_of_a_thread() {
    let client = Client::new().await;
    for graph in ["trip", "unstored_trip"] {
        let thread = new_thread();
        let mut stream = Events::all(&client, &thread).await;
        let input = json!({ "cities": ["Rome", "Oslo", "Bern"] });
        start(&client, &thread, json!({ "assistant_id": graph, "input": input })).await;
        let found = stream.until_end().await;
        let of = |methods: &[&str]| -> Vec<(Vec<String>, Value)> {
            let events = found.iter().filter(|event| methods.contains(&event["method"].as_str().unwrap()));
            let namespace =
                |event: &Value| serde_json::from_value(event["params"]["namespace"].clone()).unwrap();
            events.map(|event| (namespace(event), event["params"]["data"].clone())).collect()
        };
        check_calls(&of(&["values", "custom"]));
        // The task of each call is the one that has called it, and each call begins and ends once.
        let tasks: BTreeSet<_> = of(&["tasks"])
            .into_iter()
            .filter(|(namespace, _)| namespace.is_empty())
            .map(|(_, task)| format!("{}:{}", task["name"].as_str().unwrap(), task["id"].as_str().unwrap()))
            .collect();
        let mut begun: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
        for (namespace, data) in of(&["lifecycle"]).into_iter().filter(|(call, _)| !call.is_empty()) {
            assert!(tasks.contains(&namespace[0]), "{namespace:?} of {tasks:?}");
            begun.entry(namespace).or_default().push(data["event"].as_str().unwrap().to_owned());
        }
        assert_eq!(begun.len(), 6, "{begun:?}");
        assert!(begun.values().all(|events| *events == ["started", "completed"]), "{begun:?}");
    }
}
