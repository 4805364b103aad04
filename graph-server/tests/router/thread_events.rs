//! The events of a thread.

use serde_json::{Value, json};

use crate::client::Client;
use crate::thread_client::{Events, command, data, new_thread, start};

fn methods(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["method"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_run_begins_and_ends_with_its_lifecycle() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    let run = start(&client, &thread, json!({ "assistant_id": "order", "input": { "item": "tea" } })).await;
    let found = events.until_end().await;
    assert_eq!(found[0]["params"]["data"], json!({ "event": "running", "graph_name": "order" }));
    assert_eq!(found[0]["event_id"], format!("synth:{run}:lc||running"));
    // The question comes before the end that it causes.
    let names = methods(&found);
    assert_eq!(names[names.len() - 2..], ["input.requested", "lifecycle"]);
    assert_eq!(data(&found, "input.requested")[0]["payload"], json!({ "item": "tea" }));
    assert_eq!(found.last().unwrap()["params"]["data"]["event"], "interrupted");
    // With the end, everything is stored.
    let stored = client.get(&format!("/threads/{thread}")).await.ok();
    assert_eq!(stored["status"], "interrupted");
    for pair in found.windows(2) {
        assert!(pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64());
    }
    let mut ids: Vec<_> = found.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), found.len());
}

#[tokio::test]
async fn states_updates_tasks_and_custom_events_are_those_of_the_run() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "order", "input": { "item": "tea" } })).await;
    let found = events.until_end().await;
    let state = |log: Value| json!({ "item": "tea", "log": log, "approved": null });
    assert_eq!(data(&found, "values"), [&state(json!([])), &state(json!(["found tea"]))]);
    assert_eq!(data(&found, "updates"), [&json!({ "node": "look_up", "values": { "log": ["found tea"] } })]);
    assert_eq!(data(&found, "custom"), [&json!({ "payload": { "looking_up": "tea" } })]);
    let tasks = data(&found, "tasks");
    let shown: Vec<_> =
        tasks.iter().map(|task| (task["name"].as_str().unwrap(), task.get("result").is_some())).collect();
    assert_eq!(shown, [("look_up", false), ("look_up", true), ("ask", false), ("ask", true)]);
    assert_eq!(tasks[3]["interrupts"][0]["value"], json!({ "item": "tea" }));
    assert!(!format!("{found:?}").contains("4111-secret"));
}

/// Checks that the checkpoints of a thread are announced as they are stored, each before its state.
async fn check_checkpoints(client: &Client, thread: &str, events: &[Value], count: usize) {
    for (index, event) in events.iter().enumerate() {
        if event["method"] == "values" && event["params"]["namespace"] == json!([]) {
            assert_eq!(events[index - 1]["method"], "checkpoints");
        }
    }
    let history = client.post(&format!("/threads/{thread}/history"), json!({ "limit": 100 })).await.ok();
    let mut steps = data(events, "checkpoints");
    // A run that resumes begins with the state that it has found.
    let mut seen = Vec::new();
    steps.retain(|step| {
        !seen.contains(&&step["id"]) && {
            seen.push(&step["id"]);
            true
        }
    });
    for step in &steps {
        let stored = history.as_array().unwrap().iter().find(|state| state["checkpoint_id"] == step["id"]);
        let stored = stored.unwrap_or_else(|| panic!("{step} is stored"));
        assert_eq!(stored["metadata"]["step"], step["step"], "{step}");
        assert_eq!(stored["metadata"]["source"], step["source"]);
        assert_eq!(stored["parent_checkpoint_id"], step["parent_id"], "{step}");
    }
    assert_eq!(steps.len(), count);
}

#[tokio::test]
async fn each_state_follows_its_checkpoint() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    let mut found = Vec::new();
    for durability in ["async", "sync"] {
        let input = json!({ "messages": "hello" });
        start(&client, &thread, json!({ "assistant_id": "chat", "input": input, "durability": durability }))
            .await;
        found.extend(events.until_end().await);
    }
    check_checkpoints(&client, &thread, &found, 6).await;
}

#[tokio::test]
async fn resumed_runs_announce_their_checkpoints() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "order", "input": { "item": "tea" } })).await;
    let mut found = events.until_end().await;
    let id = data(&found, "input.requested")[0]["interrupt_id"].clone();
    command(&client, &thread, "input.respond", json!({ "interrupt_id": id, "response": true })).await;
    found.extend(events.until_end().await);
    check_checkpoints(&client, &thread, &found, 4).await;
}

#[tokio::test]
async fn runs_that_store_nothing_until_their_end_stream() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    let run = json!({ "assistant_id": "slow", "input": { "name": "a" }, "durability": "exit" });
    start(&client, &thread, run).await;
    let found = events.until(|event| event["method"] == "updates").await;
    assert_eq!(data(&found, "values").len(), 1);
    client.gate.open(1);
    events.until_end().await;
}

#[tokio::test]
async fn messages_are_content_blocks() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "hello" } })).await;
    let found = events.until_end().await;
    let shown: Vec<_> = data(&found, "messages")
        .into_iter()
        .map(|data| {
            let text = data["delta"]["text"].as_str().or(data["content"]["text"].as_str());
            let text = text.unwrap_or_default();
            format!("{} {} {text}", data["id"].as_str().unwrap(), data["event"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        shown,
        [
            "reply-1 message-start ",
            "reply-1 content-block-start ",
            "reply-1 content-block-delta Good ",
            "reply-1 content-block-delta morning.",
            "reply-1 content-block-finish Good morning.",
            "reply-1 message-finish ",
            "signature message-start ",
            "signature content-block-start ",
            "signature content-block-delta Yours",
            "signature content-block-finish Yours",
            "signature message-finish ",
        ]
    );
    assert_eq!(data(&found, "messages")[0]["role"], "ai");
}

#[tokio::test]
async fn tool_calls_start_and_finish() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "agent", "input": { "messages": "calculate" } })).await;
    let found = events.until_end().await;
    let tools = data(&found, "tools");
    let shown: Vec<_> = tools
        .iter()
        .map(|tool| (tool["event"].as_str().unwrap(), tool["tool_call_id"].as_str().unwrap()))
        .collect();
    let started: Vec<_> = shown.iter().filter(|(event, _)| *event == "tool-started").collect();
    assert_eq!(started.len(), 2, "{shown:?}");
    assert!(
        shown.contains(&("tool-finished", "good")) && shown.contains(&("tool-error", "bad")),
        "{shown:?}"
    );
    let good = tools.iter().find(|tool| tool["tool_call_id"] == "good").unwrap();
    assert_eq!((&good["tool_name"], &good["input"]), (&json!("halve"), &json!({ "number": 84 })));
    let finished = tools.iter().find(|tool| tool["event"] == "tool-finished").unwrap();
    assert_eq!(finished["output"]["content"], "42");
    let failed = tools.iter().find(|tool| tool["event"] == "tool-error").unwrap();
    assert!(failed["message"].as_str().unwrap().contains("odd"), "{failed}");
}

#[tokio::test]
async fn a_failed_run_says_why() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "fail", "input": { "text": "boom" } })).await;
    let end = events.until_end().await.pop().unwrap();
    assert_eq!(end["params"]["data"]["event"], "failed");
    assert!(end["params"]["data"]["error"].as_str().unwrap().contains("boom"));
}

#[tokio::test]
async fn subgraph_calls_have_a_namespace_and_a_lifecycle() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "nested", "input": { "item": "tea" } })).await;
    let found = events.until_end().await;
    let inner = found.iter().find(|event| event["params"]["namespace"] != json!([])).unwrap();
    let namespace = inner["params"]["namespace"].clone();
    let (node, task) = namespace[0].as_str().unwrap().split_once(':').unwrap();
    assert_eq!(node, "inner");
    assert_eq!(
        (&inner["method"], &inner["params"]["data"]["event"]),
        (&json!("lifecycle"), &json!("started"))
    );
    assert_eq!(inner["params"]["data"]["trigger_call_id"], task);
    assert_eq!(inner["params"]["data"]["graph_name"], "inner");
    // The task that has called the subgraph.
    assert!(data(&found, "tasks").iter().any(|data| data["id"] == task && data["name"] == "inner"));
    let asked = found.iter().find(|event| event["method"] == "input.requested").unwrap();
    assert_eq!(asked["params"]["namespace"], namespace);
    let left = &found[found.len() - 2];
    assert_eq!(
        (&left["params"]["namespace"], &left["params"]["data"]["event"]),
        (&namespace, &json!("interrupted"))
    );

    let id = asked["params"]["data"]["interrupt_id"].clone();
    let answer = json!({ "namespace": namespace, "interrupt_id": id, "response": true });
    assert_eq!(command(&client, &thread, "input.respond", answer).await["type"], "success");
    let rest = events.until_end().await;
    let ended: Vec<_> = data(&rest, "lifecycle").iter().map(|data| data["event"].clone()).collect();
    assert_eq!(ended, ["running", "started", "completed", "completed"]);
}

#[tokio::test]
async fn filters_choose_channels_and_namespaces() {
    let client = Client::new().await;
    let thread = new_thread();
    start(&client, &thread, json!({ "assistant_id": "nested", "input": { "item": "tea" } })).await;
    let mut all = Events::all(&client, &thread).await;
    let all = all.until_end().await;
    let root = json!({ "channels": ["values", "lifecycle"], "namespaces": [[]], "depth": 0 });
    let mut root = Events::open(&client, &thread, root).await;
    let expected: Vec<_> = all
        .iter()
        .filter(|event| event["params"]["namespace"] == json!([]))
        .filter(|event| event["method"] == "values" || event["method"] == "lifecycle")
        .cloned()
        .collect();
    assert_eq!(root.until_end().await, expected);
    let inner = json!({ "channels": ["updates"], "namespaces": [["inner"]] });
    let mut inner = Events::open(&client, &thread, inner).await;
    let found = inner.until(|event| event["method"] == "updates").await;
    assert_eq!(found[0]["params"]["data"]["node"], "look_up");
}

#[tokio::test]
async fn events_are_replayed_with_the_same_ids() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut live = Events::all(&client, &thread).await;
    start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "hello" } })).await;
    let live = live.until_end().await;
    let mut replayed = Events::all(&client, &thread).await;
    assert_eq!(replayed.until_end().await, live);
    // Only what follows.
    let since = live[live.len() - 3]["seq"].clone();
    let request = json!({ "channels": ["values", "updates", "lifecycle", "messages", "tasks", "checkpoints"], "since": since });
    let mut rest = Events::open(&client, &thread, request).await;
    assert_eq!(rest.until_end().await, live[live.len() - 2..]);
}

#[tokio::test]
async fn a_stream_continues_over_runs() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    let first =
        start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "one" } })).await;
    events.until_end().await;
    let second =
        start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "two" } })).await;
    let found = events.until_end().await;
    assert_ne!(first, second);
    assert_eq!(found[0]["event_id"], format!("synth:{second}:lc||running"));
    // A run that was started by another kind of request.
    let body = json!({ "assistant_id": "chat", "input": { "messages": "three" } });
    client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    assert_eq!(events.until_end().await.last().unwrap()["params"]["data"]["event"], "completed");
}

#[tokio::test]
async fn a_cancelled_run_is_interrupted() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    let run = start(&client, &thread, json!({ "assistant_id": "slow", "input": { "name": "a" } })).await;
    client.gate.begun(1).await;
    client.post(&format!("/threads/{thread}/runs/{run}/cancel?wait=0&action=interrupt"), json!({})).await;
    let end = events.until_end().await.pop().unwrap();
    assert_eq!(end["params"]["data"]["event"], "interrupted");
}

#[tokio::test]
async fn bad_requests_for_events_are_refused() {
    let client = Client::new().await;
    let path = format!("/threads/{}/stream/events", new_thread());
    for (body, text) in [
        (json!({}), "channels"),
        (json!({ "channels": [] }), "channels"),
        (json!({ "channels": ["nothing"] }), "nothing"),
        (json!({ "channels": ["custom:"] }), "custom"),
        (json!({ "channels": ["values"], "namespaces": ["a"] }), "namespaces[0]"),
        (json!({ "channels": ["values"], "since": "x" }), "since"),
    ] {
        let detail = client.post(&path, body.clone()).await.refused(422);
        assert!(detail.contains(text) || text == "nothing", "{body}: {detail}");
    }
    client.post("/threads/none/stream/events", json!({ "channels": ["values"] })).await.refused(422);
}

#[tokio::test]
async fn events_that_are_no_longer_kept_are_replaced_by_the_state() {
    let client = Client::new().await;
    let thread = new_thread();
    let run =
        start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "hello" } })).await;
    client.ended(&thread, &run).await;
    let state = client.get(&format!("/threads/{thread}/state")).await.ok();
    // The number is one of an earlier log, such as that of a server before this one.
    let request = json!({ "channels": ["values", "lifecycle"], "since": 5 });
    let mut events = Events::open(&client, &thread, request).await;
    let found = events.until_end().await;
    assert_eq!((&found[0]["method"], &found[0]["params"]["data"]), (&json!("values"), &state["values"]));
    let id = format!("state:{}", state["checkpoint"]["checkpoint_id"].as_str().unwrap());
    assert_eq!(found[0]["event_id"], id);
    assert_eq!(found[1]["params"]["data"]["event"], "running");
    for pair in found.windows(2) {
        assert!(pair[0]["seq"].as_u64() < pair[1]["seq"].as_u64());
    }
    // Other channels, and clients that have missed nothing, do not get it.
    for request in
        [json!({ "channels": ["lifecycle"], "since": 5 }), json!({ "channels": ["values", "lifecycle"] })]
    {
        let mut events = Events::open(&client, &thread, request).await;
        let found = events.until_end().await;
        assert!(found[0]["params"]["data"]["event"] == "running", "{found:?}");
    }
}
