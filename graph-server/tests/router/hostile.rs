//! Nothing that a client sends is an error of the server.

use axum::http::Method;
use serde_json::{Value, json};

use crate::client::{Client, read};

fn values() -> Vec<Value> {
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1e308),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}"),
        json!("__start__"),
        json!("__end__"),
        json!("x".repeat(10_000)),
        json!("00000000-0000-0000-0000-000000000000"),
        json!("01ARZ3NDEKTSV4RRFFQ69G5FAV"),
        json!([]),
        json!([null]),
        json!(["look_up", 1, {}]),
        json!({}),
        json!({ "": null, "item": [], "log": [1], "$overwrite": { "log": ["x"] } }),
        json!({ "$overwrite": [] }),
        json!({ "configurable": { "checkpoint_id": 7, "thread_id": [] }, "recursion_limit": -5 }),
        json!({ "checkpoint_id": "\u{ffff}", "checkpoint_ns": "a:b|c" }),
        json!({ "resume": { "": 1 }, "goto": [{ "node": "ship", "input": {} }], "update": [] }),
        json!({ "update": [{ "log": ["a"] }, { "item": null }], "goto": { "node": "__end__" } }),
        deep,
    ]
}

async fn check(client: &Client, path: &str, body: Value) {
    let reply = client.post(path, body.clone()).await;
    assert!(reply.status.as_u16() < 500, "{} {path} {body}: {}", reply.status, reply.text);
    if !reply.status.is_success() {
        assert!(reply.json()["detail"].is_string(), "{}", reply.text);
    }
}

#[tokio::test]
async fn odd_bodies_are_no_failures_of_the_server() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let run = json!({ "assistant_id": "order", "input": { "item": "tea" } });
    client.post(&format!("/threads/{thread}/runs/wait"), run.clone()).await.ok();
    let keys = [
        "assistant_id",
        "input",
        "command",
        "config",
        "context",
        "metadata",
        "stream_mode",
        "stream_subgraphs",
        "stream_resumable",
        "interrupt_before",
        "interrupt_after",
        "checkpoint",
        "checkpoint_id",
        "multitask_strategy",
        "on_disconnect",
        "on_completion",
        "if_not_exists",
        "after_seconds",
        "webhook",
        "durability",
        "checkpoint_during",
        "feedback_keys",
    ];
    for key in keys {
        for value in values() {
            let mut body = run.clone();
            if key == "command" {
                body["input"] = Value::Null;
            }
            body[key] = value.clone();
            check(&client, &format!("/threads/{thread}/runs/wait"), body.clone()).await;
            check(&client, "/runs/wait", body).await;
        }
    }
    for (path, keys) in [
        ("state", &["values", "as_node", "checkpoint", "checkpoint_id"][..]),
        ("state/checkpoint", &["checkpoint", "subgraphs"]),
        ("history", &["limit", "before", "metadata", "checkpoint"]),
    ] {
        for key in keys {
            for value in values() {
                check(&client, &format!("/threads/{thread}/{path}"), json!({ *key: value })).await;
            }
        }
    }
    for key in ["thread_id", "run_ids", "status"] {
        for value in values() {
            check(&client, "/runs/cancel", json!({ "thread_id": thread, key: value })).await;
        }
    }
    for value in values() {
        for path in ["/runs", "/runs/stream", "/runs/wait", "/runs/cancel"] {
            check(&client, path, value.clone()).await;
        }
    }
    // The thread is as good as before.
    client.post(&format!("/threads/{thread}/runs/wait"), run).await.ok();
}

#[tokio::test]
async fn odd_queries_and_headers_are_no_failures_of_the_server() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let run = json!({ "assistant_id": "fail", "input": { "text": "fine" }, "stream_resumable": true });
    let run = client.post(&format!("/threads/{thread}/runs"), run).await.ok();
    let path = format!("/threads/{thread}/runs/{}", run["run_id"].as_str().unwrap());
    client.ended(&thread, run["run_id"].as_str().unwrap()).await;
    let queries = [
        "?limit=-1",
        "?limit=99999999999999999999",
        "?offset=18446744073709551615",
        "?status=x",
        "?%ff=%00",
        "?&&=&",
    ];
    for query in queries {
        for path in [
            format!("/threads/{thread}/runs"),
            format!("/threads/{thread}/history"),
            format!("{path}/stream"),
        ] {
            let reply = client.get(&format!("{path}{query}")).await;
            assert!(reply.status.as_u16() < 500, "{path}{query}: {}", reply.text);
        }
    }
    for last in ["x", "1.", ".1", "9.9", "1.99999999999999999999", "-1", "0-0", "1.2.3"] {
        let reply =
            client.send(Method::GET, &format!("{path}/stream"), None, &[("last-event-id", last)]).await;
        assert_eq!(read(reply).await.status, 200, "{last}");
    }
    for id in ["x", "..", "%00", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "00000000-0000-0000-0000-000000000000"] {
        let reply = client.get(&format!("/threads/{thread}/state/{id}")).await;
        assert!(matches!(reply.status.as_u16(), 404 | 422), "{id}: {}", reply.text);
    }
}

/// Everything that is accepted can be read again.
#[tokio::test]
async fn deep_bodies_are_refused_or_kept() {
    let client = Client::new().await;
    let thread = client.thread().await;
    for depth in 90..130 {
        let deep = (0..depth).fold(json!(1), |inner, _| json!([inner]));
        let run =
            json!({ "assistant_id": "fail", "input": { "text": "fine" }, "metadata": { "deep": deep } });
        let mut cron = run.clone();
        cron["schedule"] = json!("0 0 1 1 *");
        let item = json!({ "namespace": ["a"], "key": "k", "value": { "deep": deep } });
        for (method, path, body, shown) in [
            (Method::POST, format!("/threads/{thread}/runs"), &run, "run_id"),
            (Method::POST, "/runs/crons".to_owned(), &cron, "cron_id"),
            (Method::POST, "/threads".to_owned(), &json!({ "metadata": { "deep": deep } }), "thread_id"),
            (Method::PUT, "/store/items".to_owned(), &item, ""),
        ] {
            let reply = client.reply(method, &path, Some(body.clone())).await;
            if !reply.status.is_success() {
                reply.refused(422);
                continue;
            }
            let path = match shown {
                "" => "/store/items?namespace=a&key=k".to_owned(),
                id => format!("{path}/{}", reply.json()[id].as_str().unwrap()),
            };
            client.get(&path).await.ok();
        }
    }
    // The lists are deeper than this test reads.
    assert_eq!(client.get(&format!("/threads/{thread}/runs?limit=100")).await.status, 200);
    assert_eq!(client.post("/threads/search", json!({ "limit": 100 })).await.status, 200);
}

/// One state that cannot be shown does not hide the others.
#[tokio::test]
async fn a_state_that_is_too_deep_spoils_no_list() {
    for depth in [124, 125, 126, 127, 128, 129, 130, 300] {
        let client = Client::new().await;
        let (thread, _other) = (client.thread().await, client.thread().await);
        let run = json!({ "assistant_id": "deep", "input": { "depth": depth } });
        client.post(&format!("/threads/{thread}/runs/wait"), run).await;
        let found = client.post("/threads/search", json!({})).await;
        assert_eq!(found.status, 200, "{depth}: {}", found.text);
        for path in ["", "/state", "/history"] {
            let reply = client.get(&format!("/threads/{thread}{path}")).await;
            assert!(reply.status.as_u16() < 500, "{depth} {path}: {}", reply.text);
        }
    }
}

#[tokio::test]
async fn odd_resources_are_no_failures_of_the_server() {
    let client = Client::new().await;
    let thread = client.thread().await;
    let made = client.post("/assistants", json!({ "graph_id": "fail" })).await.ok();
    let assistant = format!("/assistants/{}", made["assistant_id"].as_str().unwrap());
    let run = json!({ "assistant_id": "fail", "input": { "text": "fine" }, "schedule": "0 0 1 1 *" });
    let cron = client.post("/runs/crons", run.clone()).await.ok();
    let cron = format!("/runs/crons/{}", cron["cron_id"].as_str().unwrap());
    let thread = format!("/threads/{thread}");
    let item = json!({ "namespace": ["a"], "key": "k", "value": { "n": 1 } });
    let message = json!({ "role": "user", "messageId": "m", "parts": [{ "kind": "data", "data": {} }] });
    let send =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": { "message": message } });
    let tool = json!({ "name": "fail", "arguments": { "text": "fine" } });
    let tool = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool });
    let command = json!({ "id": 1, "method": "run.start", "params": run });
    let lists = ["limit", "offset", "sort_by", "sort_order", "select", "metadata"];
    let with = |more: &[&'static str]| [&lists[..], more].concat();
    let settings = ["graph_id", "config", "context", "metadata", "name", "description"];
    let cases: Vec<(Method, String, Value, Vec<&str>)> = vec![
        (
            Method::POST,
            "/threads".into(),
            json!({}),
            vec!["thread_id", "metadata", "if_exists", "ttl", "supersteps"],
        ),
        (Method::POST, "/threads".into(), json!({ "metadata": { "graph_id": "order" } }), vec!["supersteps"]),
        (Method::PATCH, thread.clone(), json!({}), vec!["metadata", "ttl"]),
        (Method::PATCH, format!("{thread}/state"), json!({}), vec!["metadata"]),
        (Method::POST, "/threads/search".into(), json!({}), with(&["ids", "values", "status", "extract"])),
        (Method::POST, "/threads/count".into(), json!({}), vec!["metadata", "values", "status"]),
        (
            Method::POST,
            "/threads/prune".into(),
            json!({ "strategy": "keep_latest" }),
            vec!["thread_ids", "strategy"],
        ),
        (
            Method::POST,
            "/assistants".into(),
            json!({ "graph_id": "fail" }),
            [&settings[..], &["assistant_id", "if_exists"]].concat(),
        ),
        (Method::PATCH, assistant.clone(), json!({}), settings.to_vec()),
        (Method::POST, format!("{assistant}/versions"), json!({}), vec!["limit", "offset", "metadata"]),
        (Method::POST, format!("{assistant}/latest"), json!({}), vec!["version"]),
        (Method::POST, "/assistants/search".into(), json!({}), with(&["graph_id", "name"])),
        (Method::POST, "/assistants/count".into(), json!({}), vec!["metadata", "graph_id", "name"]),
        (Method::PUT, "/store/items".into(), item.clone(), vec!["namespace", "key", "value", "index", "ttl"]),
        (Method::DELETE, "/store/items".into(), item, vec!["namespace", "key"]),
        (
            Method::POST,
            "/store/items/search".into(),
            json!({}),
            vec!["namespace_prefix", "filter", "query", "limit", "offset", "refresh_ttl"],
        ),
        (
            Method::POST,
            "/store/namespaces".into(),
            json!({}),
            vec!["prefix", "suffix", "max_depth", "limit", "offset"],
        ),
        (
            Method::POST,
            "/runs/crons".into(),
            run.clone(),
            vec!["schedule", "timezone", "end_time", "enabled", "on_run_completed", "metadata", "webhook"],
        ),
        (
            Method::PATCH,
            cron,
            json!({}),
            vec![
                "schedule",
                "timezone",
                "end_time",
                "enabled",
                "on_run_completed",
                "metadata",
                "input",
                "config",
            ],
        ),
        (
            Method::POST,
            "/runs/crons/search".into(),
            json!({}),
            with(&["assistant_id", "thread_id", "enabled"]),
        ),
        (Method::POST, "/runs/batch".into(), json!([run]), vec!["0"]),
        (Method::POST, "/a2a/fail".into(), send, vec!["jsonrpc", "id", "method", "params"]),
        (Method::POST, "/mcp".into(), tool, vec!["jsonrpc", "id", "method", "params"]),
        (Method::POST, format!("{thread}/commands"), command, vec!["id", "method", "params"]),
    ];
    let more =
        [json!(2e17), json!({ "ttl": 2e17 }), json!({ "$gt": "\u{0}", "$ne": null }), json!({ "$eq": {} })];
    for (method, path, body, keys) in cases {
        for key in keys {
            for value in values().into_iter().chain(more.clone()) {
                let mut body = body.clone();
                match &mut body {
                    Value::Array(items) => items.push(value),
                    body => body[key] = value,
                }
                let reply = client.reply(method.clone(), &path, Some(body.clone())).await;
                let shown = body.to_string();
                let shown = shown.get(..300).unwrap_or(&shown);
                assert!(
                    reply.status.as_u16() < 500,
                    "{} {method} {path} {shown}: {}",
                    reply.status,
                    reply.text
                );
            }
        }
    }
}
