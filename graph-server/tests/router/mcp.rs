//! The assistants as tools of the Model Context Protocol.

use axum::http::Method;
use serde_json::{Value, json};

use crate::client::Client;

async fn call(client: &Client, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
    let response = client.post("/mcp", body).await.ok();
    assert_eq!((&response["jsonrpc"], &response["id"]), (&json!("2.0"), &json!(7)));
    response
}

#[tokio::test]
async fn initialize_answers_with_a_version_that_the_client_knows() {
    let client = Client::new().await;
    for (asked, answered) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "2025-11-25")] {
        let result = &call(&client, "initialize", json!({ "protocolVersion": asked })).await["result"];
        assert_eq!(result["protocolVersion"], answered);
        assert!(result["capabilities"]["tools"].is_object() && result["serverInfo"]["name"].is_string());
    }
    assert_eq!(call(&client, "ping", json!({})).await["result"], json!({}));
}

#[tokio::test]
async fn notifications_and_responses_are_accepted_without_an_answer() {
    let client = Client::new().await;
    for body in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
    ] {
        let reply = client.post("/mcp", body).await;
        assert_eq!((reply.status.as_u16(), reply.text.as_str()), (202, ""));
    }
}

#[tokio::test]
async fn every_assistant_is_a_tool_with_its_schemas() {
    let client = Client::new().await;
    for name in ["My orders!", "My orders!"] {
        client
            .post("/assistants", json!({ "graph_id": "order", "name": name, "description": "Orders." }))
            .await
            .ok();
    }
    let tools = call(&client, "tools/list", json!({})).await["result"]["tools"].take();
    let tools = tools.as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"order") && names.contains(&"My_orders_"), "{names:?}");
    let unique: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len(), "{names:?}");
    let order = tools.iter().find(|tool| tool["name"] == "My_orders_").unwrap();
    assert_eq!(order["description"], "Orders.");
    assert!(order["inputSchema"]["properties"]["item"].is_object(), "{order}");
    assert_eq!(order["outputSchema"]["type"], "object");
}

#[tokio::test]
async fn called_tool_returns_its_output_as_json_and_as_text() {
    let client = Client::new().await;
    let arguments = json!({ "messages": [{ "role": "user", "content": "hi" }] });
    let result =
        call(&client, "tools/call", json!({ "name": "chat", "arguments": arguments })).await["result"].take();
    assert_eq!(result["isError"], false, "{result}");
    let messages = result["structuredContent"]["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["content"], "Yours");
    let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text, result["structuredContent"]);
}

#[tokio::test]
async fn failures_and_wrong_arguments_are_results_that_a_model_can_read() {
    let client = Client::new().await;
    for (tool, arguments, says) in [
        ("fail", json!({ "text": "boom" }), "boom"),
        ("fail", json!({ "text": 5 }), "text"),
        ("fail", json!({}), "text"),
        ("order", json!({ "item": "tea" }), "waits for answers"),
    ] {
        let response = call(&client, "tools/call", json!({ "name": tool, "arguments": arguments })).await;
        assert_eq!(response["result"]["isError"], true, "{response}");
        let text = response["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(says), "{text}");
        assert!(!text.contains("4111-secret"), "an excluded field is shown");
    }
}

#[tokio::test]
async fn wrong_calls_have_the_codes_of_json_rpc() {
    let client = Client::new().await;
    for (method, params, code) in [
        ("tools/bake", json!({}), -32_601),
        ("tools/call", json!({}), -32_602),
        ("tools/call", json!({ "name": "nothing" }), -32_602),
        ("tools/call", json!({ "name": "order", "arguments": 3 }), -32_602),
    ] {
        assert_eq!(call(&client, method, params).await["error"]["code"], code, "{method}");
    }
    for body in [
        json!([]),
        json!({ "id": 1, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": {}, "method": "ping" }),
    ] {
        let reply = client.post("/mcp", body).await;
        assert_eq!((reply.status.as_u16(), reply.json()["error"]["code"].clone()), (400, json!(-32_600)));
    }
}

#[tokio::test]
async fn other_methods_of_http_are_refused() {
    let client = Client::new().await;
    for (method, path, status) in
        [(Method::GET, "/mcp", 405), (Method::DELETE, "/mcp", 404), (Method::POST, "/mcp/", 307)]
    {
        assert_eq!(client.reply(method, path, None).await.status.as_u16(), status);
    }
}

#[tokio::test]
async fn the_path_with_a_slash_leads_to_the_one_without() {
    let client = Client::new().await;
    let nested = axum::Router::new().nest("/api", client.routes.clone());
    let client = Client { routes: nested, ..client };
    let reply = client.post("/api/mcp/", json!({})).await;
    // Relative to `/api/mcp/`, this is `/api/mcp`.
    assert_eq!((reply.status.as_u16(), reply.header("location")), (307, "../mcp"));
}
