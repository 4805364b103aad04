//! The assistants as agents of the Agent2Agent protocol.

use axum::http::Method;
use serde_json::{Value, json};

use crate::client::{Client, parse_events, read};

async fn rpc(client: &Client, graph: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": "call", "method": method, "params": params });
    let response = client.post(&format!("/a2a/{graph}"), body).await.ok();
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!("call")));
    response
}

pub(crate) async fn result(client: &Client, graph: &str, method: &str, params: Value) -> Value {
    let mut response = rpc(client, graph, method, params).await;
    assert_eq!(response.get("error"), None, "{response}");
    response["result"].take()
}

pub(crate) async fn error(client: &Client, graph: &str, method: &str, params: Value) -> Value {
    let response = rpc(client, graph, method, params).await;
    assert!(response["error"]["message"].is_string(), "{response}");
    response["error"]["code"].clone()
}

/// A message of version 0.3.
fn old(parts: Value) -> Value {
    json!({ "message": { "kind": "message", "role": "user", "messageId": "m-1", "parts": parts } })
}

/// A message of version 1.0.
pub(crate) fn new(parts: Value) -> Value {
    json!({ "message": { "role": "ROLE_USER", "messageId": "m-1", "parts": parts } })
}

async fn stream(client: &Client, graph: &str, method: &str, params: Value) -> Vec<Value> {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let reply = client.post(&format!("/a2a/{graph}"), body).await;
    assert!(reply.header("content-type").starts_with("text/event-stream"), "{}", reply.text);
    let events = parse_events(&reply.text).into_iter().map(|(name, data, _)| {
        assert_eq!((name.as_str(), &data["jsonrpc"], &data["id"]), ("message", &json!("2.0"), &json!(1)));
        data["result"].clone()
    });
    events.collect()
}

#[tokio::test]
async fn cards_describe_the_agent_for_both_versions() {
    let client = Client::new().await;
    let assistant = client.get("/assistants/chat/graph").await;
    assert_eq!(assistant.status, 200);
    let id = client.post("/assistants/search", json!({ "graph_id": "chat" })).await.ok()[0]["assistant_id"]
        .clone();
    let id = id.as_str().unwrap();
    let host = [("host", "agents.example"), ("x-forwarded-proto", "https")];
    for path in [
        format!("/a2a/{id}/.well-known/agent-card.json"),
        format!("/.well-known/agent-card.json?assistant_id={id}"),
    ] {
        let card = read(client.send(Method::GET, &path, None, &host).await).await.ok();
        let url = format!("https://agents.example/a2a/{id}");
        assert_eq!((&card["name"], &card["url"]), (&json!("chat"), &json!(url)));
        let interface = json!({ "url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0" });
        assert_eq!(card["supportedInterfaces"][0], interface);
        assert_eq!(
            (&card["preferredTransport"], &card["protocolVersion"]),
            (&json!("JSONRPC"), &json!("0.3.0"))
        );
        assert_eq!(card["capabilities"]["streaming"], true);
        assert_eq!(card["capabilities"]["pushNotifications"], false);
        assert_eq!(card["defaultInputModes"], json!(["text/plain", "application/json"]));
        assert_eq!(card["skills"][0]["tags"], json!(["chat"]));
        assert!(
            card["description"].as_str().is_some_and(|text| !text.is_empty()) && card["version"].is_string()
        );
    }
    client.get("/.well-known/agent-card.json").await.refused(400);
    client.get("/a2a/nothing/.well-known/agent-card.json").await.refused(422);
}

#[tokio::test]
async fn addresses_in_cards_have_the_path_where_the_routes_are_nested() {
    let client = Client::new().await;
    let nested = Client { routes: axum::Router::new().nest("/agents", client.routes.clone()), ..client };
    for path in ["/a2a/chat/.well-known/agent-card.json", "/.well-known/agent-card.json?assistant_id=chat"] {
        let card = nested.get(&format!("/agents{path}")).await.ok();
        let url = card["url"].as_str().unwrap().to_owned();
        assert!(url.starts_with("/agents/a2a/"), "{url}");
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": old(json!([{ "kind": "text", "text": "hi" }])) });
        assert_eq!(nested.post(&url, call).await.ok()["result"]["status"]["state"], "completed");
    }
}

#[tokio::test]
async fn sent_text_returns_the_answer_of_the_agent() {
    let client = Client::new().await;
    let task = result(&client, "chat", "message/send", old(json!([{ "kind": "text", "text": "hi" }]))).await;
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("completed")));
    assert!(task["status"]["timestamp"].as_str().unwrap().ends_with('Z'));
    let artifact = &task["artifacts"][0];
    assert_eq!(artifact["name"], "Assistant Response");
    assert_eq!(artifact["parts"], json!([{ "kind": "text", "text": "Yours" }]));
    let (id, context) = (task["id"].as_str().unwrap(), task["contextId"].as_str().unwrap());
    assert!(id.starts_with(&format!("{context}:")), "{id}");
    let message = json!({
        "kind": "message", "role": "user", "messageId": "m-1", "parts": [{ "kind": "text", "text": "hi" }],
        "taskId": id, "contextId": context,
    });
    assert_eq!(task["history"], json!([message]));
    // The context is a thread.
    let state = client.get(&format!("/threads/{context}/state")).await.ok();
    assert_eq!(state["values"]["messages"][0]["content"], "hi");
    let found = result(&client, "chat", "tasks/get", json!({ "id": id })).await;
    for field in ["id", "contextId", "history", "artifacts", "kind"] {
        assert_eq!(found[field], task[field], "{field}");
    }
    assert_eq!(found["status"]["state"], "completed");
}

#[tokio::test]
async fn version_1_writes_its_own_names() {
    let client = Client::new().await;
    let answer = result(&client, "chat", "SendMessage", new(json!([{ "text": "hi" }]))).await;
    let task = &answer["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "text": "Yours" }]));
    assert_eq!(task["history"][0]["role"], "ROLE_USER");
    assert!(task.get("kind").is_none() && task["history"][0].get("kind").is_none(), "{task}");
    let found = result(&client, "chat", "GetTask", json!({ "id": task["id"], "historyLength": 0 })).await;
    assert_eq!((&found["id"], &found["history"]), (&task["id"], &json!([])));
    assert_eq!(found["artifacts"], task["artifacts"]);
}

#[tokio::test]
async fn data_is_the_input_and_the_output_of_graphs_without_messages() {
    let client = Client::new().await;
    let params = old(json!([{ "kind": "data", "data": { "text": "one" } }]));
    let task = result(&client, "fail", "message/send", params).await;
    assert_eq!(task["artifacts"][0]["parts"], json!([{ "kind": "data", "data": { "text": "one" } }]));
    let text = old(json!([{ "kind": "text", "text": "one" }]));
    assert_eq!(error(&client, "fail", "message/send", text).await, -32_602);
    // A graph with messages takes both.
    let parts =
        json!([{ "data": { "messages": [{ "role": "user", "content": "first" }] } }, { "text": "second" }]);
    let task = result(&client, "chat", "SendMessage", new(parts)).await["task"].take();
    let context = task["contextId"].as_str().unwrap();
    let state = client.get(&format!("/threads/{context}/state")).await.ok();
    let texts: Vec<_> = (0..2).map(|n| state["values"]["messages"][n]["content"].clone()).collect();
    assert_eq!(texts, ["first", "second"]);
}

#[tokio::test]
async fn failure_is_the_state_of_the_task() {
    let client = Client::new().await;
    let params = old(json!([{ "kind": "data", "data": { "text": "boom" } }]));
    let task = result(&client, "fail", "message/send", params).await;
    assert_eq!(task["status"]["state"], "failed");
    let text = task["status"]["message"]["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains("boom"), "{text}");
    let found = result(&client, "fail", "tasks/get", json!({ "id": task["id"] })).await;
    assert_eq!(found["status"]["message"]["parts"], task["status"]["message"]["parts"]);
}

#[tokio::test]
async fn streams_begin_with_the_task_and_end_with_its_final_status() {
    let client = Client::new().await;
    let events =
        stream(&client, "chat", "message/stream", old(json!([{ "kind": "text", "text": "hi" }]))).await;
    let kinds: Vec<_> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!((kinds[0], events[0]["status"]["state"].as_str()), ("task", Some("submitted")));
    let (last, artifact) = (&events[events.len() - 1], &events[events.len() - 2]);
    assert_eq!((&last["kind"], &last["status"]["state"]), (&json!("status-update"), &json!("completed")));
    assert_eq!((&artifact["kind"], &artifact["lastChunk"]), (&json!("artifact-update"), &json!(true)));
    assert_eq!(artifact["artifact"]["parts"][0]["text"], "Yours");
    let between = &events[1..events.len() - 2];
    assert!(!between.is_empty(), "{events:?}");
    for event in between {
        assert_eq!((&event["kind"], &event["status"]["state"]), (&json!("status-update"), &json!("working")));
        assert_eq!(event["status"]["message"]["role"], "agent");
    }
    for event in &events[1..] {
        assert_eq!((&event["taskId"], &event["contextId"]), (&events[0]["id"], &events[0]["contextId"]));
        assert_eq!(event.get("final").is_some_and(|last| last == true), event == last);
    }
}

#[tokio::test]
async fn streams_of_version_1_name_each_event() {
    let client = Client::new().await;
    let events = stream(&client, "chat", "SendStreamingMessage", new(json!([{ "text": "hi" }]))).await;
    assert_eq!(events[0]["task"]["status"]["state"], "TASK_STATE_SUBMITTED");
    assert_eq!(events[1]["statusUpdate"]["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(events[events.len() - 2]["artifactUpdate"]["artifact"]["parts"], json!([{ "text": "Yours" }]));
    let last = &events[events.len() - 1]["statusUpdate"];
    assert_eq!(last["status"]["state"], "TASK_STATE_COMPLETED");
    assert!(last.get("kind").is_none() && last.get("final").is_none(), "{last}");
}

#[tokio::test]
async fn question_requires_input_and_the_next_message_of_the_task_answers_it() {
    let client = Client::new().await;
    for (answer, approved) in [
        (json!([{ "kind": "text", "text": "true" }]), true),
        (json!([{ "kind": "data", "data": "by id" }]), false),
    ] {
        let params = old(json!([{ "kind": "data", "data": { "item": "tea" } }]));
        let task = result(&client, "order", "message/send", params).await;
        assert_eq!(task["status"]["state"], "input-required");
        let artifact = &task["artifacts"][0];
        assert_eq!(artifact["name"], "Interrupt");
        let interrupt = &artifact["parts"][0]["data"]["interrupts"][0];
        assert_eq!(interrupt["value"]["item"], "tea");
        let asked = result(&client, "order", "tasks/get", json!({ "id": task["id"] })).await;
        assert_eq!(asked["artifacts"], task["artifacts"]);
        let by_id = json!([{ "kind": "data", "data": { interrupt["id"].as_str().unwrap(): approved } }]);
        let answer = if answer[0]["data"] == "by id" { by_id } else { answer };
        let mut params = old(answer);
        params["message"]["taskId"] = task["id"].clone();
        let done = result(&client, "order", "message/send", params.clone()).await;
        assert_eq!((&done["id"], &done["status"]["state"]), (&task["id"], &json!("completed")));
        assert_eq!(done["artifacts"][0]["parts"][0]["data"]["approved"], approved);
        assert_eq!(done["history"].as_array().unwrap().len(), 2);
        let found = result(&client, "order", "tasks/get", json!({ "id": task["id"] })).await;
        assert_eq!(found["artifacts"], done["artifacts"]);
        assert_eq!(found["history"], done["history"]);
        // The task has ended.
        assert_eq!(error(&client, "order", "message/send", params).await, -32_004);
    }
}

#[tokio::test]
async fn answer_that_does_not_fit_is_refused_and_the_task_still_waits() {
    let client = Client::new().await;
    let params = new(json!([{ "data": { "item": "tea" } }]));
    let task = result(&client, "order", "SendMessage", params).await["task"].take();
    let mut answer = new(json!([{ "text": "maybe" }]));
    answer["message"]["taskId"] = task["id"].clone();
    assert_eq!(error(&client, "order", "SendMessage", answer.clone()).await, -32_602);
    let found = result(&client, "order", "GetTask", json!({ "id": task["id"] })).await;
    assert_eq!(found["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    answer["message"]["parts"] = json!([{ "data": false }]);
    let events = stream(&client, "order", "SendStreamingMessage", answer).await;
    assert_eq!(events[0]["task"]["id"], task["id"]);
    assert_eq!(events.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn next_message_of_a_context_begins_another_task() {
    let client = Client::new().await;
    let first = result(&client, "chat", "message/send", old(json!([{ "kind": "text", "text": "hi" }]))).await;
    let mut params = old(json!([{ "kind": "text", "text": "again" }]));
    params["message"]["contextId"] = first["contextId"].clone();
    params["message"]["messageId"] = "m-2".into();
    let second = result(&client, "chat", "message/send", params).await;
    assert_eq!(second["contextId"], first["contextId"]);
    assert_ne!(second["id"], first["id"]);
    // A client may choose the context: a UUID.
    let own = "019a0000-0000-7000-8000-000000000001";
    let mut params = old(json!([{ "kind": "text", "text": "hi" }]));
    params["message"]["contextId"] = own.into();
    assert_eq!(result(&client, "chat", "message/send", params.clone()).await["contextId"], own);
    params["message"]["contextId"] = "mine".into();
    assert_eq!(error(&client, "chat", "message/send", params).await, -32_602);
}

#[tokio::test]
async fn running_task_is_polled_followed_and_cancelled() {
    let client = Client::new().await;
    let mut params = old(json!([{ "kind": "data", "data": { "name": "a" } }]));
    params["configuration"] = json!({ "blocking": false });
    let task = result(&client, "slow", "message/send", params).await;
    assert_eq!(task["status"]["state"], "submitted");
    client.gate.begun(1).await;
    let id = json!({ "id": task["id"] });
    assert_eq!(result(&client, "slow", "tasks/get", id.clone()).await["status"]["state"], "working");
    // Another message for the task has to wait.
    let mut early = old(json!([{ "kind": "data", "data": { "name": "b" } }]));
    early["message"]["taskId"] = task["id"].clone();
    assert_eq!(error(&client, "slow", "message/send", early).await, -32_004);
    let follower = {
        let (client, id) = (client.clone(), id.clone());
        tokio::spawn(async move { stream(&client, "slow", "tasks/resubscribe", id).await })
    };
    let cancelled = result(&client, "slow", "tasks/cancel", id.clone()).await;
    assert_eq!((&cancelled["id"], &cancelled["status"]["state"]), (&task["id"], &json!("canceled")));
    assert_eq!(error(&client, "slow", "tasks/cancel", id.clone()).await, -32_002);
    let _events = follower.await;
    assert_eq!(error(&client, "slow", "tasks/resubscribe", id).await, -32_004);
}

#[tokio::test]
async fn follower_of_a_task_gets_its_end() {
    let client = Client::new().await;
    let mut params = new(json!([{ "data": { "name": "a" } }]));
    params["configuration"] = json!({ "returnImmediately": true });
    let task = result(&client, "slow", "SendMessage", params).await["task"].take();
    client.gate.begun(1).await;
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "SubscribeToTask", "params": { "id": task["id"] } });
    let response = client.send(Method::POST, "/a2a/slow", Some(body), &[]).await;
    client.gate.open(1);
    let events = read(response).await.events();
    let results: Vec<_> = events.iter().map(|(_, data, _)| &data["result"]).collect();
    assert_eq!(results[0]["task"]["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(results.last().unwrap()["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn cancelled_question_leaves_its_context_usable() {
    let client = Client::new().await;
    let params = old(json!([{ "kind": "data", "data": { "item": "tea" } }]));
    let task = result(&client, "order", "message/send", params.clone()).await;
    let id = json!({ "id": task["id"] });
    assert_eq!(result(&client, "order", "tasks/cancel", id.clone()).await["status"]["state"], "canceled");
    assert_eq!(error(&client, "order", "tasks/cancel", id).await, -32_002);
    let mut next = params;
    next["message"]["contextId"] = task["contextId"].clone();
    let task = result(&client, "order", "message/send", next).await;
    assert_eq!(task["status"]["state"], "input-required");
}

#[tokio::test]
async fn errors_have_the_codes_of_the_protocol() {
    let client = Client::new().await;
    let hi = || json!([{ "kind": "text", "text": "hi" }]);
    let unknown = "019a0000-0000-7000-8000-000000000001:019a0000-0000-7000-8000-000000000002";
    let mut other = old(hi());
    other["message"]["taskId"] = unknown.into();
    let mut agent = old(hi());
    agent["message"]["role"] = "agent".into();
    let mut pushed = old(hi());
    pushed["configuration"] = json!({ "pushNotificationConfig": { "url": "http://example.org" } });
    for (graph, method, params, code) in [
        ("chat", "message/fry", json!({}), -32_601),
        ("nothing", "message/send", old(hi()), -32_602),
        ("019a0000-0000-7000-8000-000000000001", "message/send", old(hi()), -32_602),
        ("chat", "message/send", json!({}), -32_602),
        ("chat", "message/send", old(json!([])), -32_602),
        ("chat", "message/send", old(json!([{ "kind": "text" }])), -32_602),
        ("chat", "message/send", agent, -32_602),
        ("fail", "message/send", old(json!([{ "kind": "data", "data": { "text": 5 } }])), -32_602),
        ("chat", "message/send", other, -32_001),
        ("chat", "tasks/get", json!({ "id": unknown }), -32_001),
        ("chat", "tasks/get", json!({ "id": "x" }), -32_001),
        ("chat", "tasks/get", json!({}), -32_602),
        ("chat", "CancelTask", json!({ "id": unknown }), -32_001),
        ("chat", "message/send", old(json!([{ "kind": "file", "file": { "uri": "a" } }])), -32_005),
        ("chat", "SendMessage", new(json!([{ "url": "http://example.org/a" }])), -32_005),
        ("chat", "message/send", pushed, -32_003),
        ("chat", "tasks/pushNotificationConfig/set", json!({}), -32_003),
        ("chat", "GetExtendedAgentCard", json!({}), -32_007),
    ] {
        assert_eq!(error(&client, graph, method, params).await, code, "{graph} {method}");
    }
    // Streams are refused before they begin.
    assert_eq!(error(&client, "chat", "message/stream", json!({})).await, -32_602);
    // A task belongs to its agent.
    let task = result(&client, "chat", "message/send", old(hi())).await;
    assert_eq!(error(&client, "order", "tasks/get", json!({ "id": task["id"] })).await, -32_001);
    for (body, code) in [
        (json!([]), -32_600),
        (json!({ "jsonrpc": "2.0", "method": "message/send", "params": old(hi()) }), -32_600),
    ] {
        assert_eq!(client.post("/a2a/chat", body).await.ok()["error"]["code"], code);
    }
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": new(json!([{ "text": "hi" }])) });
    for (version, code) in [("2.0", json!(-32_009)), ("1.0", Value::Null), ("0.3.0", Value::Null)] {
        let header = [("a2a-version", version)];
        let reply = read(client.send(Method::POST, "/a2a/chat", Some(call.clone()), &header).await).await;
        assert_eq!(reply.ok()["error"]["code"], code, "{version}");
    }
}

#[tokio::test]
async fn excluded_fields_are_in_no_result() {
    let client = Client::new().await;
    let params = old(json!([{ "kind": "data", "data": { "item": "tea" } }]));
    let asked = stream(&client, "order", "message/stream", params).await;
    let mut answer = old(json!([{ "kind": "text", "text": "true" }]));
    answer["message"]["taskId"] = asked[0]["id"].clone();
    let done = stream(&client, "order", "message/stream", answer).await;
    assert_eq!(done.last().unwrap()["status"]["state"], "completed");
    assert!(!format!("{asked:?}{done:?}").contains("4111-secret"), "an excluded field is shown");
}
