//! The commands of a thread.

use axum::http::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::thread_client::{Events, command, data, new_thread, start};

#[tokio::test]
async fn a_run_creates_its_thread() {
    let client = Client::new().await;
    let thread = new_thread();
    let run =
        start(&client, &thread, json!({ "assistant_id": "chat", "input": { "messages": "hello" } })).await;
    let ended = client.ended(&thread, &run).await;
    assert_eq!(ended["status"], "success");
    let found = client.get(&format!("/threads/{thread}")).await.ok();
    assert_eq!(found["metadata"]["graph_id"], "chat");
}

#[tokio::test]
async fn malformed_commands_are_bad_requests() {
    let client = Client::new().await;
    let path = format!("/threads/{}/commands", new_thread());
    for body in [
        json!({ "method": "run.start", "params": {} }),
        json!({ "id": "1", "method": "run.start" }),
        json!({ "id": 1 }),
        json!({ "id": 1, "method": "run.start", "params": [] }),
        json!([]),
        json!(null),
    ] {
        let reply = client.reply(Method::POST, &path, Some(body)).await;
        assert_eq!(reply.status, 400, "{}", reply.text);
        let error = reply.json();
        assert_eq!((&error["type"], &error["error"]), (&json!("error"), &json!("invalid_argument")));
    }
}

#[tokio::test]
async fn failed_commands_say_why() {
    let client = Client::new().await;
    let thread = new_thread();
    let checkpoint = "1f0e2a3b-4c5d-6e7f-8011-223344556677";
    for (method, params, code, text) in [
        ("state.get", json!({}), "unknown_command", "state.get"),
        ("input.inject", json!({}), "unknown_command", "input.inject"),
        ("subscription.subscribe", json!({ "channels": ["values"] }), "unknown_command", "WebSocket"),
        ("run.start", json!({ "input": {} }), "invalid_argument", "assistant_id"),
        ("run.start", json!({ "assistant_id": "nobody" }), "invalid_argument", "nobody"),
        ("run.start", json!({ "assistant_id": "order", "input": { "item": 1 } }), "invalid_argument", "item"),
        (
            "run.start",
            json!({
                "assistant_id": "order", "input": { "item": "tea" },
                "config": { "configurable": { "checkpoint_id": checkpoint } },
            }),
            "no_such_checkpoint",
            checkpoint,
        ),
        ("input.respond", json!({ "interrupt_id": "x", "response": true }), "no_such_interrupt", "`x`"),
        ("input.respond", json!({ "interrupt_id": "x" }), "invalid_argument", "response"),
        ("input.respond", json!({ "responses": [] }), "invalid_argument", "responses"),
        ("agent.getTree", json!({}), "no_such_run", "run"),
    ] {
        let reply = command(&client, &thread, method, params.clone()).await;
        assert_eq!(reply["type"], "error", "{method} {params}: {reply}");
        assert_eq!(reply["error"], code, "{reply}");
        assert!(reply["message"].as_str().unwrap().contains(text), "{reply}");
    }
    // No refused command has created the thread.
    client.get(&format!("/threads/{thread}")).await.refused(404);
}

async fn question(client: &Client, thread: &str) -> (Events, String) {
    let mut events = Events::all(client, thread).await;
    start(client, thread, json!({ "assistant_id": "order", "input": { "item": "tea" } })).await;
    let asked = events.until_end().await;
    let asked = data(&asked, "input.requested")[0]["interrupt_id"].as_str().unwrap().to_owned();
    (events, asked)
}

#[tokio::test]
async fn an_answer_resumes_the_run() {
    let client = Client::new().await;
    for several in [false, true] {
        let thread = new_thread();
        let (mut events, id) = question(&client, &thread).await;
        let answer = json!({ "namespace": [], "interrupt_id": id, "response": true });
        let params = if several { json!({ "responses": [answer] }) } else { answer };
        let reply = command(&client, &thread, "input.respond", params.clone()).await;
        assert_eq!((&reply["type"], &reply["result"]), (&json!("success"), &json!({})));
        let rest = events.until_end().await;
        let state = data(&rest, "values").last().unwrap()["log"].clone();
        assert_eq!(state, json!(["found tea", "approved: true", "shipped tea"]));
        // The question was answered.
        let again = command(&client, &thread, "input.respond", params).await;
        assert_eq!(again["error"], "no_such_interrupt");
    }
}

#[tokio::test]
async fn an_ill_typed_answer_changes_nothing() {
    let client = Client::new().await;
    let thread = new_thread();
    let (_, id) = question(&client, &thread).await;
    for (answer, code) in [
        (json!({ "interrupt_id": id, "response": "yes" }), "invalid_argument"),
        (
            json!({ "responses": [
                { "interrupt_id": id, "response": true },
                { "interrupt_id": "0123456789abcdef0123456789abcdef", "response": true },
            ] }),
            "no_such_interrupt",
        ),
    ] {
        let reply = command(&client, &thread, "input.respond", answer).await;
        assert_eq!(reply["error"], code, "{reply}");
    }
    let state = client.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!(state["interrupts"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn of_two_answers_at_once_one_counts() {
    let client = Client::new().await;
    let thread = new_thread();
    let (_, id) = question(&client, &thread).await;
    let answer = json!({ "interrupt_id": id, "response": true });
    let (first, second) = tokio::join!(
        command(&client, &thread, "input.respond", answer.clone()),
        command(&client, &thread, "input.respond", answer),
    );
    let mut kinds = [first, second].map(|reply| reply["type"].as_str().unwrap().to_owned());
    kinds.sort_unstable();
    assert_eq!(kinds, ["error", "success"]);
}

#[tokio::test]
async fn an_answer_can_update_the_state() {
    let client = Client::new().await;
    let thread = new_thread();
    let (mut events, id) = question(&client, &thread).await;
    let params = json!({ "interrupt_id": id, "response": true, "update": { "log": ["by hand"] } });
    command(&client, &thread, "input.respond", params).await;
    let rest = events.until_end().await;
    let log = data(&rest, "values").last().unwrap()["log"].clone();
    assert!(log.as_array().unwrap().contains(&json!("by hand")), "{log}");
}

#[tokio::test]
async fn a_run_forks_from_a_checkpoint() {
    let client = Client::new().await;
    let thread = new_thread();
    let mut events = Events::all(&client, &thread).await;
    let hello = json!({ "messages": [{ "role": "human", "content": "hello", "id": "h1" }] });
    start(&client, &thread, json!({ "assistant_id": "chat", "input": hello })).await;
    let first = events.until_end().await;
    let before = data(&first, "checkpoints")[0]["parent_id"].clone();
    let other = json!({ "messages": [{ "role": "human", "content": "other", "id": "h2" }] });
    let config = json!({ "configurable": { "checkpoint_id": before } });
    start(&client, &thread, json!({ "assistant_id": "chat", "input": other, "config": config })).await;
    let second = events.until_end().await;
    let ids = |values: &Value| -> Vec<String> {
        let messages = values["messages"].as_array().unwrap();
        messages.iter().map(|message| message["id"].as_str().unwrap().to_owned()).collect()
    };
    // The first question is not part of the fork.
    assert_eq!(ids(data(&second, "values").last().unwrap()), ["h2", "reply-1", "signature"]);
}

#[tokio::test]
async fn the_tree_shows_the_active_run() {
    let client = Client::new().await;
    let thread = new_thread();
    let run = start(&client, &thread, json!({ "assistant_id": "slow", "input": { "name": "a" } })).await;
    client.gate.begun(1).await;
    let reply = command(&client, &thread, "agent.getTree", json!({})).await;
    assert_eq!(
        reply["result"]["tree"],
        json!({ "namespace": [], "status": "running", "graph_name": "slow", "children": [] })
    );
    client.gate.open(1);
    client.ended(&thread, &run).await;
}
