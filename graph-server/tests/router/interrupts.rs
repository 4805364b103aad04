//! Questions and their answers.

use serde_json::json;

use crate::client::Client;

async fn asked() -> (Client, String, String) {
    let client = Client::new().await;
    let thread = client.thread().await;
    let body = json!({ "assistant_id": "order", "input": { "item": "tea" } });
    let values = client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    let id = values["__interrupt__"][0]["id"].as_str().unwrap().to_owned();
    (client, thread, id)
}

#[tokio::test]
async fn an_answer_may_name_its_question() {
    let (client, thread, id) = asked().await;
    assert_eq!(id.len(), 32);
    let body = json!({ "assistant_id": "order", "command": { "resume": { id: false } } });
    let values = client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    assert_eq!(values["approved"], false);
}

#[tokio::test]
async fn wrong_answers_are_refused_and_change_nothing() {
    let (client, thread, id) = asked().await;
    let before = client.get(&format!("/threads/{thread}/state")).await.ok();
    let runs = client.get(&format!("/threads/{thread}/runs")).await.ok();
    let unknown = "0123456789abcdef0123456789abcdef";
    for resume in [json!("maybe"), json!({ id: 7 }), json!({ unknown: true })] {
        let body = json!({ "assistant_id": "order", "command": { "resume": resume } });
        let detail = client.post(&format!("/threads/{thread}/runs/wait"), body).await.refused(422);
        assert!(detail.starts_with("`command.resume"), "{detail}");
    }
    assert_eq!(client.get(&format!("/threads/{thread}/state")).await.ok(), before);
    assert_eq!(client.get(&format!("/threads/{thread}/runs")).await.ok(), runs);
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "interrupted");
}

#[tokio::test]
async fn a_second_answer_does_nothing() {
    let (client, thread, _) = asked().await;
    let body = json!({ "assistant_id": "order", "command": { "resume": true } });
    let path = format!("/threads/{thread}/runs/wait");
    let first = client.post(&path, body.clone()).await.ok();
    // Nothing waits any longer: the run returns the state.
    assert_eq!(client.post(&path, body).await.ok(), first);
}

#[tokio::test]
async fn an_answer_may_come_with_an_update_and_a_node() {
    let (client, thread, _) = asked().await;
    let command = json!({ "resume": true, "update": { "log": ["by hand"] }, "goto": "ship" });
    let body = json!({ "assistant_id": "order", "command": command });
    let values = client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    let log = json!(["found tea", "by hand", "approved: true", "shipped tea", "shipped tea"]);
    assert_eq!(values["log"], log);
}

#[tokio::test]
async fn a_command_may_begin_a_thread_or_change_a_finished_one() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let command = json!({ "update": { "item": "milk" }, "goto": "ship" });
    let begun = client.post(&path, json!({ "assistant_id": "order", "command": command })).await.ok();
    assert_eq!(begun["log"], json!(["shipped milk"]));
    let command = json!({ "update": { "log": ["noted"] } });
    let changed = client.post(&path, json!({ "assistant_id": "order", "command": command })).await.ok();
    assert_eq!(changed["log"], json!(["shipped milk", "noted"]));
}

#[tokio::test]
async fn a_thread_without_a_state_needs_an_input() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    let failed = client.post(&path, json!({ "assistant_id": "order", "input": null })).await.ok();
    assert_eq!(failed["__error__"]["error"], "EmptyInputError");
    let done = client.post(&path, json!({ "assistant_id": "order", "input": { "item": "tea" } })).await.ok();
    assert_eq!(done["log"], json!(["found tea"]));
}

#[tokio::test]
async fn new_input_takes_the_place_of_a_question() {
    let (client, thread, _) = asked().await;
    let body = json!({ "assistant_id": "order", "input": { "item": "milk" } });
    let values = client.post(&format!("/threads/{thread}/runs/wait"), body).await.ok();
    assert_eq!(values["__interrupt__"][0]["value"]["item"], "milk");
    assert_eq!(values["__interrupt__"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn breakpoints_stop_and_continue() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let path = format!("/threads/{thread}/runs/stream");
    let body = json!({
        "assistant_id": "order", "input": { "item": "tea" }, "interrupt_before": ["ask"],
        "stream_mode": ["values", "updates"],
    });
    let events = client.post(&path, body).await.events();
    let (name, data, _) = events.last().unwrap();
    assert_eq!((name.as_str(), data), ("updates", &json!({ "__interrupt__": [] })));
    assert!(events.iter().all(|(name, data, _)| name != "values" || data.get("__interrupt__").is_none()));
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "interrupted");
    assert_eq!(client.get(&format!("/threads/{thread}/state")).await.ok()["next"], json!(["ask"]));
    let on =
        client.post(&format!("/threads/{thread}/runs/wait"), json!({ "assistant_id": "order" })).await.ok();
    assert_eq!(on["__interrupt__"][0]["value"]["item"], "tea");
}
