//! The events of runs in each mode.

use std::time::Duration;

use axum::http::Method;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};

use crate::client::{Client, parse_events, read};

async fn events(client: &Client, graph: &str, input: Value, modes: Value) -> Vec<(String, Value)> {
    let body = json!({ "assistant_id": graph, "input": input, "stream_mode": modes });
    let thread = client.thread().await;
    let reply = client.post(&format!("/threads/{thread}/runs/stream"), body).await;
    assert_eq!(reply.header("content-type"), "text/event-stream; charset=utf-8");
    let events = reply.events();
    assert_eq!(events[0].0, "metadata");
    assert_eq!(events[0].1["attempt"], 1);
    assert!(events.iter().all(|(.., id)| id.is_none()));
    events.into_iter().skip(1).map(|(name, data, _)| (name, data)).collect()
}

#[tokio::test]
async fn values_and_updates() {
    let client = Client::new().await;
    let found = events(&client, "order", json!({ "item": "tea" }), json!(["values", "updates"])).await;
    let state = |log: Value| json!({ "item": "tea", "log": log, "approved": null });
    let interrupt = found.last().unwrap().1["__interrupt__"].clone();
    let mut stopped = state(json!(["found tea"]));
    stopped["__interrupt__"] = interrupt.clone();
    assert_eq!(
        found,
        [
            ("values".to_owned(), state(json!([]))),
            ("updates".to_owned(), json!({ "look_up": { "log": ["found tea"] } })),
            ("values".to_owned(), state(json!(["found tea"]))),
            ("updates".to_owned(), json!({ "__interrupt__": interrupt })),
            ("values".to_owned(), stopped),
        ]
    );
    assert_eq!(interrupt[0]["value"], json!({ "item": "tea" }));
}

#[tokio::test]
async fn custom_events_are_those_of_the_nodes() {
    let client = Client::new().await;
    let found = events(&client, "order", json!({ "item": "tea" }), json!("custom")).await;
    assert_eq!(found, [("custom".to_owned(), json!({ "looking_up": "tea" }))]);
}

#[tokio::test]
async fn messages_arrive_in_chunks_with_their_metadata() {
    let client = Client::new().await;
    let input = json!({ "messages": [{ "role": "human", "content": "hello" }] });
    let found = events(&client, "chat", input, json!(["messages-tuple", "values"])).await;
    let messages: Vec<_> =
        found.iter().filter(|(name, _)| name == "messages").map(|(_, data)| data).collect();
    let shown: Vec<_> = messages
        .iter()
        .map(|data| {
            (data[0]["type"].as_str().unwrap(), data[0]["id"].as_str().unwrap(), data[0]["content"].clone())
        })
        .collect();
    assert_eq!(
        shown,
        [
            ("AIMessageChunk", "reply-1", json!("Good ")),
            ("AIMessageChunk", "reply-1", json!("morning.")),
            ("AIMessageChunk", "reply-1", json!("")),
            ("ai", "signature", json!("Yours")),
        ]
    );
    assert_eq!(messages[2][0]["chunk_position"], "last");
    let metadata = &messages[0][1];
    assert_eq!((&metadata["langgraph_node"], &metadata["langgraph_step"]), (&json!("reply"), &json!(1)));
    assert!(metadata["langgraph_checkpoint_ns"].as_str().unwrap().starts_with("reply:"));
    assert_eq!(metadata["graph_id"], "chat");
    let last = found.iter().rev().find(|(name, _)| name == "values").unwrap();
    let ids: Vec<_> =
        last.1["messages"].as_array().unwrap().iter().map(|message| message["id"].clone()).collect();
    assert_eq!(ids[1..], ["reply-1", "signature"]);
}

#[tokio::test]
async fn messages_grow_in_the_mode_messages() {
    let client = Client::new().await;
    let input = json!({ "messages": "hello" });
    let found = events(&client, "chat", input, json!(["messages"])).await;
    let shown: Vec<_> = found
        .iter()
        .map(|(name, data)| match name.as_str() {
            "messages/metadata" => format!("{name} {}", data.as_object().unwrap().keys().next().unwrap()),
            _ => format!("{name} {}", data[0]["content"].as_str().unwrap()),
        })
        .collect();
    assert_eq!(
        shown,
        [
            "messages/metadata reply-1",
            "messages/partial Good ",
            "messages/partial Good morning.",
            "messages/metadata signature",
            "messages/complete Yours",
        ]
    );
}

#[tokio::test]
async fn tasks_begin_and_end() {
    let client = Client::new().await;
    let found = events(&client, "order", json!({ "item": "tea" }), json!(["tasks"])).await;
    let shown: Vec<_> =
        found.iter().map(|(name, data)| (name.as_str(), data["name"].as_str().unwrap())).collect();
    assert_eq!(shown, [("tasks", "look_up"), ("tasks", "look_up"), ("tasks", "ask"), ("tasks", "ask")]);
    assert_eq!(found[0].1["id"], found[1].1["id"]);
    assert_eq!(found[0].1["input"]["item"], "tea");
    assert_eq!(found[1].1["result"], json!({ "log": ["found tea"] }));
    assert_eq!(found[3].1["interrupts"][0]["value"], json!({ "item": "tea" }));
    let failed = events(&client, "fail", json!({ "text": "boom" }), json!(["tasks"])).await;
    assert!(failed[1].1["error"].as_str().unwrap().ends_with("boom"));
    assert_eq!(failed[2].0, "error");
}

#[tokio::test]
async fn checkpoints_have_their_states() {
    let client = Client::new().await;
    for mode in ["checkpoints", "debug"] {
        let found = events(&client, "fail", json!({ "text": "fine" }), json!([mode])).await;
        let checkpoints: Vec<_> = found
            .iter()
            .filter(|(_, data)| mode == "checkpoints" || data["type"] == "checkpoint")
            .map(|(_, data)| if mode == "debug" { &data["payload"] } else { data })
            .collect();
        let shown: Vec<_> =
            checkpoints.iter().map(|at| (at["metadata"]["step"].clone(), at["next"].clone())).collect();
        assert_eq!(
            shown,
            [(json!(-1), json!(["__start__"])), (json!(0), json!(["fragile"])), (json!(1), json!([]))]
        );
        assert_eq!(checkpoints[2]["values"], json!({ "text": "fine" }));
        assert_eq!(checkpoints[2]["parent_config"], checkpoints[1]["config"]);
    }
}

#[tokio::test]
async fn events_follow_astream_events() {
    let client = Client::new().await;
    let found = events(&client, "chat", json!({ "messages": "hello" }), json!(["events"])).await;
    let names: Vec<_> = found.iter().map(|(_, data)| data["event"].as_str().unwrap()).collect();
    assert_eq!(names.first(), Some(&"on_chain_start"));
    assert_eq!(names.last(), Some(&"on_chain_end"));
    assert_eq!(names.iter().filter(|name| **name == "on_chat_model_stream").count(), 2);
}

/// A client that comes back sees each event once.
#[tokio::test]
async fn resumable_streams_continue_after_the_last_event() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let body = json!({
        "assistant_id": "slow", "input": { "name": "a" }, "stream_mode": ["values", "updates"],
        "stream_resumable": true,
    });
    let path = format!("/threads/{thread}/runs/stream");
    let mut response = client.send(Method::POST, &path, Some(body), &[]).await;
    let run = response.headers()["content-location"].to_str().unwrap().to_owned();
    client.gate.begun(1).await;
    let mut seen = Vec::new();
    while seen.len() < 3 {
        let frame = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
        seen.extend(parse_events(std::str::from_utf8(&frame).unwrap()));
    }
    drop(response);
    let last = seen.last().unwrap().2.clone().expect("an id");
    let path = format!("{run}/stream");
    let waiting = client.send(Method::GET, &path, None, &[("last-event-id", &last)]).await;
    client.gate.open(1);
    seen.extend(read(waiting).await.events());

    let all = read(client.send(Method::GET, &path, None, &[("last-event-id", "-1")]).await).await.events();
    assert_eq!(seen, all);
    let names: Vec<_> = all.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["metadata", "values", "updates", "values", "updates", "values"]);
    let updates = format!("{path}?stream_mode=updates");
    let filtered =
        read(client.send(Method::GET, &updates, None, &[("last-event-id", "-1")]).await).await.events();
    assert_eq!(
        filtered.iter().map(|(name, ..)| name.as_str()).collect::<Vec<_>>(),
        ["metadata", "updates", "updates"]
    );
    // Without an id, only later events.
    assert_eq!(client.get(&path).await.text, "");
}

#[tokio::test]
async fn a_run_that_is_not_resumable_is_joined_from_now_on() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let body = json!({ "assistant_id": "slow", "input": { "name": "a" } });
    let run = client.post(&format!("/threads/{thread}/runs"), body).await.ok();
    let path = format!("/threads/{thread}/runs/{}/stream", run["run_id"].as_str().unwrap());
    client.gate.begun(1).await;
    let joined = client.send(Method::GET, &path, None, &[]).await;
    client.gate.open(1);
    let joined = read(joined).await.events();
    assert!(joined.is_empty(), "{joined:?}");
}

/// A reader that reads nothing does not slow the run.
#[tokio::test]
async fn slow_readers_do_not_slow_the_run() {
    let client = Client::new().await;
    let thread = client.thread().await;
    client.gate.open(1);
    let body =
        json!({ "assistant_id": "slow", "input": { "name": "a" }, "stream_mode": ["values", "debug"] });
    let path = format!("/threads/{thread}/runs/stream");
    let response = client.send(Method::POST, &path, Some(body), &[]).await;
    let run = response.headers()["content-location"].to_str().unwrap().to_owned();
    let ended =
        tokio::time::timeout(Duration::from_secs(5), client.ended(&thread, run.rsplit('/').next().unwrap()));
    assert_eq!(ended.await.expect("the run ends")["status"], "success");
    assert!(read(response).await.events().len() > 5);
}

#[tokio::test(start_paused = true)]
async fn heartbeats_are_regular() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let body = json!({ "assistant_id": "slow", "input": { "name": "a" } });
    let path = format!("/threads/{thread}/runs/stream");
    let mut response = client.send(Method::POST, &path, Some(body.clone()), &[]).await;
    let (mut text, begun) = (String::new(), tokio::time::Instant::now());
    while text.matches(": heartbeat\r\n\r\n").count() < 3 {
        let frame = response.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
        text.push_str(std::str::from_utf8(&frame).unwrap());
    }
    assert_eq!(begun.elapsed().as_secs(), 15);
    client.gate.open(1);
    drop(response);
    let path = format!("/threads/{thread}/runs/wait");
    let mut waiting = client.send(Method::POST, &path, Some(body), &[]).await;
    let frame = waiting.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(&frame[..], b"\n");
    client.gate.open(1);
    assert_eq!(read(waiting).await.json()["name"], "a");
}

#[tokio::test]
async fn tool_calls_start_and_end() {
    let client = Client::new().await;
    let found = events(&client, "agent", json!({ "messages": "calculate" }), json!("tools")).await;
    assert!(found.iter().all(|(name, _)| name == "tools"));
    let of = |kind: &str, call: &str| {
        let fits = |data: &Value| data["event"] == kind && data["toolCallId"] == call;
        found.iter().map(|(_, data)| data).find(|data| fits(data)).cloned().unwrap()
    };
    assert_eq!(
        (of("on_tool_start", "good")["name"].clone(), of("on_tool_start", "good")["input"].clone()),
        (json!("halve"), json!({ "number": 84 }))
    );
    assert_eq!(of("on_tool_end", "good")["output"]["content"], "42");
    assert_eq!(of("on_tool_error", "bad")["name"], "halve");
    assert_eq!(found.len(), 4);
}

/// JSON that a node passes on as it came may have line breaks, which end a line of the stream.
#[tokio::test]
async fn line_breaks_in_raw_json_do_not_break_the_stream() {
    let client = Client::new().await;
    let body = json!({
        "assistant_id": "raw", "input": { "name": "a" }, "stream_mode": ["values", "updates", "custom"],
    });
    let text = client.post("/runs/stream", body).await.text;
    let fields = text.lines().filter(|line| !line.is_empty());
    let other: Vec<_> = fields
        .filter(|line| !["event: ", "data: ", "id: "].iter().any(|name| line.starts_with(name)))
        .collect();
    assert!(other.is_empty(), "{text}");
    assert!(text.contains("data: \"event: forged\":"), "{text}");
}
