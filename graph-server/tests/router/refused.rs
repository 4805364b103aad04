//! Requests that are refused, before anything changes.

use axum::http::Method;
use serde_json::{Value, json};

use crate::client::Client;

async fn check(body: Value, status: u16, expected: &str) {
    let client = Client::new().await;
    let thread = client.thread().await;
    for kind in ["", "/wait", "/stream"] {
        let detail =
            client.post(&format!("/threads/{thread}/runs{kind}"), body.clone()).await.refused(status);
        assert!(detail.contains(expected), "{detail}");
    }
    assert_eq!(client.get(&format!("/threads/{thread}/runs")).await.ok(), json!([]));
    let state = client.get(&format!("/threads/{thread}/state")).await.ok();
    assert_eq!((&state["values"], &state["checkpoint"]), (&json!({}), &Value::Null));
    assert_eq!(client.get(&format!("/threads/{thread}")).await.ok()["status"], "idle");
}

#[tokio::test]
async fn ill_typed_inputs_are_refused_with_every_problem() {
    let input = json!({ "item": 7, "unknown": true });
    check(json!({ "assistant_id": "order", "input": input }), 422, "$.item: ").await;
    check(json!({ "assistant_id": "order", "input": {} }), 422, "$.item: required").await;
    check(json!({ "assistant_id": "order", "input": "tea" }), 422, "expected").await;
}

#[tokio::test]
async fn unknown_fields_of_an_input_are_ignored() {
    let client = Client::new().await;
    let input = json!({ "text": "fine", "newer": true });
    let done = client.post("/runs/wait", json!({ "assistant_id": "fail", "input": input, "newer": 1 })).await;
    assert_eq!(done.ok(), json!({ "text": "fine" }));
}

#[tokio::test]
async fn unknown_names_are_refused() {
    let input = json!({ "item": "tea" });
    check(json!({ "assistant_id": "nobody", "input": input }), 422, "no graph `nobody`").await;
    let unknown = "fe096781-0000-53d2-b2f6-0d3403f7e9ca";
    check(json!({ "assistant_id": unknown, "input": input }), 404, "not found").await;
    check(
        json!({ "assistant_id": "order", "input": input, "interrupt_before": ["nope"] }),
        422,
        "no node `nope`",
    )
    .await;
    check(json!({ "assistant_id": "order", "command": { "goto": "nope" } }), 422, "no node `nope`").await;
    check(json!({ "assistant_id": "order", "command": { "update": { "nope": 1 } } }), 422, "$.nope").await;
    check(json!({ "assistant_id": "order", "input": input, "stream_mode": "all" }), 422, "stream_mode").await;
    check(json!({ "assistant_id": "order", "input": input, "multitask_strategy": "x" }), 422, "multitask")
        .await;
    check(
        json!({ "assistant_id": "order", "input": input, "checkpoint_id": "x" }),
        422,
        "not a checkpoint id",
    )
    .await;
    let id = "00000000-0000-0000-0000-000000000001";
    check(json!({ "assistant_id": "order", "input": input, "checkpoint_id": id }), 404, id).await;
    check(json!({ "assistant_id": "order", "input": null, "checkpoint_id": id }), 404, id).await;
    check(json!({ "assistant_id": "order", "input": input, "after_seconds": -5 }), 422, "after_seconds")
        .await;
    check(json!({ "input": input }), 422, "assistant_id").await;
    check(json!([]), 422, "expected an object").await;
}

#[tokio::test]
async fn unknown_threads_and_runs_are_not_found() {
    let client = Client::new().await;
    let id = "01890a5d-ac96-774b-bcce-b302099a8057";
    let thread = client.thread().await;
    for path in [
        format!("/threads/{id}/runs"),
        format!("/threads/{id}/state"),
        format!("/threads/{id}/history"),
        format!("/threads/{thread}/runs/{id}"),
        format!("/threads/{thread}/runs/{id}/join"),
        format!("/threads/{thread}/runs/{id}/stream"),
        format!("/threads/{thread}/state/{id}"),
        format!("/runs/{id}/stream"),
        format!("/runs/{id}/join"),
    ] {
        client.get(&path).await.refused(404);
    }
    client.reply(Method::POST, &format!("/threads/{thread}/runs/{id}/cancel"), None).await.refused(404);
    for path in ["/threads/x/runs", "/threads/x/state"] {
        client.get(path).await.refused(422);
    }
}

#[tokio::test]
async fn a_thread_belongs_to_one_graph() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let path = format!("/threads/{thread}/runs/wait");
    client.post(&path, json!({ "assistant_id": "fail", "input": { "text": "fine" } })).await.ok();
    let other = json!({ "assistant_id": "order", "input": { "item": "tea" } });
    let detail = client.post(&path, other).await.refused(409);
    assert!(detail.contains("belongs to the graph `fail`"), "{detail}");
}

#[tokio::test]
async fn refused_run_leaves_no_thread() {
    let client = Client::new().await;
    let id = "01994d2c-7d6e-7000-8000-000000000001";
    let body = json!({
        "assistant_id": "order", "input": { "item": "tea" }, "if_not_exists": "create",
        "checkpoint_id": "01994d2c-7d6e-7000-8000-000000000002",
    });
    for path in ["/runs".to_owned(), format!("/threads/{id}/runs"), format!("/threads/{id}/runs/wait")] {
        client.post(&path, body.clone()).await.refused(404);
        assert_eq!(client.post("/threads/count", json!({})).await.ok(), 0, "{path}");
    }
    assert_eq!(client.get(&format!("/threads/{id}")).await.status, 404);
}

#[tokio::test]
async fn what_belongs_to_a_graph_that_is_gone_is_refused_and_can_be_deleted() {
    use superstep::checkpoint::MemoryCheckpointer;
    use superstep::store::MemoryStore;
    let (threads, records) = (MemoryCheckpointer::new(), MemoryStore::new());
    let gate = crate::graphs::Gate::new();
    let stores =
        |server: superstep_server::Server| server.checkpointer(threads.clone()).store(records.clone());
    let before = Client::of(stores(crate::client::server(&gate)), gate.clone()).await;
    let thread = before.thread().await;
    let run = json!({ "assistant_id": "order", "input": { "item": "tea" } });
    before.post(&format!("/threads/{thread}/runs/wait"), run.clone()).await.ok();
    let made = before.post("/assistants", json!({ "graph_id": "order" })).await.ok();
    let assistant = made["assistant_id"].as_str().unwrap();

    let after = superstep_server::Server::new().graph("fail", crate::graphs::failing());
    let client = Client::of(stores(after), gate).await;
    let path = format!("/threads/{thread}");
    for get in ["/state", "/history"] {
        let detail = client.get(&format!("{path}{get}")).await.refused(404);
        assert!(detail.contains("`order`"), "{detail}");
    }
    for get in ["graph", "schemas", "subgraphs"] {
        let detail = client.get(&format!("/assistants/{assistant}/{get}")).await.refused(404);
        assert!(detail.contains("order"), "{detail}");
    }
    client.post(&format!("{path}/runs/wait"), run).await.refused(422);
    let by_id = json!({ "assistant_id": assistant, "input": { "item": "tea" } });
    for place in [format!("{path}/runs"), "/runs/wait".to_owned(), "/runs/batch".to_owned()] {
        let body = if place.ends_with("batch") { json!([by_id]) } else { by_id.clone() };
        let detail = client.post(&place, body).await.refused(404);
        assert!(detail.contains("`order`"), "{detail}");
    }
    client.post(&format!("{path}/state"), json!({ "values": {} })).await.refused(404);
    let listed = client.post("/threads/search", json!({})).await.ok();
    assert_eq!((&listed[0]["thread_id"], &listed[0]["values"]), (&json!(thread), &Value::Null));
    client.get(&format!("/assistants/{assistant}")).await.ok();
    let copy = client.post(&format!("{path}/copy"), json!({})).await.ok();
    for path in [
        path,
        format!("/threads/{}", copy["thread_id"].as_str().unwrap()),
        format!("/assistants/{assistant}"),
    ] {
        assert_eq!(client.reply(Method::DELETE, &path, None).await.status, 204);
    }
}
