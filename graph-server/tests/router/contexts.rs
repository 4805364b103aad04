//! The contexts of runs.

use serde_json::{Value, json};

use crate::client::Client;

async fn greeted(client: &Client, assistant: &str, fields: Value) -> crate::client::Reply {
    let mut body = json!({ "assistant_id": assistant, "input": { "text": "" } });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    client.post("/runs/wait", body).await
}

#[tokio::test]
async fn a_context_comes_from_the_request_or_the_assistant() {
    let client = Client::new().await;
    for fields in [
        json!({ "context": { "tenant": "ann", "newer": 1 } }),
        json!({ "config": { "configurable": { "tenant": "ann", "thread_id": "x" } } }),
    ] {
        assert_eq!(greeted(&client, "greeting", fields).await.ok()["text"], "hello, ann");
    }
    let assistant = json!({ "graph_id": "greeting", "context": { "tenant": "bob" } });
    let assistant = client.post("/assistants", assistant).await.ok();
    let id = assistant["assistant_id"].as_str().unwrap();
    assert_eq!(greeted(&client, id, json!({})).await.ok()["text"], "hello, bob");
    let fields = json!({ "context": { "tenant": "ann" } });
    assert_eq!(greeted(&client, id, fields).await.ok()["text"], "hello, ann");
}

#[tokio::test]
async fn a_context_that_does_not_fit_is_refused() {
    let client = Client::new().await;
    let detail = greeted(&client, "greeting", json!({})).await.refused(422);
    assert!(detail.contains("missing field `tenant`"), "{detail}");
    let detail = greeted(&client, "greeting", json!({ "context": { "tenant": 7 } })).await.refused(422);
    assert!(detail.contains("context"), "{detail}");
}
