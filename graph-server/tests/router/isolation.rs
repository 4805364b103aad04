//! Callers do not see what belongs to others. The requests are made of the table of routes, as `/openapi.json` lists it: a route
//! without a decision here fails the test.

use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};
use superstep_server::{AuthError, AuthRequest, Identity};

use crate::client::{Client, Reply, read, server};
use crate::graphs::Gate;

/// The token names the caller. `root` is an operator.
async fn recognize(request: AuthRequest) -> Result<Identity, AuthError> {
    match request.bearer_token() {
        Some("root") => Ok(Identity::new("root").sees_all()),
        Some("nobody") => Err(AuthError::forbidden("nobody may not")),
        Some(name) => Ok(Identity::new(name)),
        None => Err(AuthError::unauthenticated("who is it?")),
    }
}

/// Requests with the token of a caller.
#[derive(Clone)]
pub(crate) struct As<'c>(pub(crate) &'c Client, pub(crate) &'static str);

impl As<'_> {
    pub(crate) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let token = format!("Bearer {}", self.1);
        self.0.send(method, path, body, &[("authorization", &token)]).await
    }

    pub(crate) async fn call(&self, method: &str, path: &str, body: Value) -> Reply {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        read(self.send(method, path, Some(body)).await).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call("GET", path, Value::Null).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.call("POST", path, body).await
    }
}

async fn client() -> Client {
    let gate = Gate::new();
    Client::of(server(&gate).authenticate(recognize), gate).await
}

fn text(value: &Value, field: &str) -> String {
    value[field].as_str().expect("an id").to_owned()
}

/// Things that belong to Ann.
struct Anns {
    /// A thread with an open question, an active run and a delayed one.
    thread: String,
    run: String,
    checkpoint: String,
    assistant: String,
    cron: String,
    /// A run without a thread, and the response that keeps it.
    alone: String,
    _streaming: Response,
}

impl Anns {
    async fn new(ann: &As<'_>) -> Self {
        let thread =
            text(&ann.post("/threads", json!({ "metadata": { "of": "ann" } })).await.ok(), "thread_id");
        let runs = format!("/threads/{thread}/runs");
        let run = json!({ "assistant_id": "slow", "input": { "name": "ann" } });
        let active = ann.post(&runs, run.clone()).await.ok();
        let mut delayed = run.clone();
        delayed["after_seconds"] = json!(3_600);
        ann.post(&runs, delayed).await.ok();
        ann.0.gate.begun(1).await;
        let state = ann.get(&format!("/threads/{thread}/state")).await.ok();
        let made = ann.post("/assistants", json!({ "graph_id": "order", "name": "of ann" })).await.ok();
        let item = json!({ "namespace": ["ann", "notes"], "key": "k", "value": { "secret": "of ann" } });
        assert_eq!(ann.call("PUT", "/store/items", item).await.status, 204);
        let cron = json!({ "assistant_id": "slow", "schedule": "0 0 1 1 *", "input": { "name": "of ann" } });
        let cron = ann.post(&format!("/threads/{thread}/runs/crons"), cron).await.ok();
        let streaming = ann.send(Method::POST, "/runs/stream", Some(run)).await;
        let alone =
            streaming.headers()["content-location"].to_str().unwrap().rsplit('/').next().unwrap().to_owned();
        ann.0.gate.begun(2).await;
        Self {
            thread,
            run: text(&active, "run_id"),
            checkpoint: text(&state, "checkpoint_id"),
            assistant: text(&made, "assistant_id"),
            cron: text(&cron, "cron_id"),
            alone,
            _streaming: streaming,
        }
    }

    /// Fills the ids of Ann into the path of a route.
    fn path(&self, route: &str) -> String {
        let run = if route.starts_with("/threads") { &self.run } else { &self.alone };
        route
            .replace("{thread}", &self.thread)
            .replace("{run}", run)
            .replace("{checkpoint}", &self.checkpoint)
            .replace("{assistant}", &self.assistant)
            .replace("{cron}", &self.cron)
            .replace("{namespace}", "inner")
    }

    /// A body with which each route would do harm.
    fn body(&self, method: &str, route: &str) -> Value {
        let run = json!({
            "assistant_id": "slow", "input": { "name": "bob" }, "multitask_strategy": "rollback",
            "if_not_exists": "create", "thread_id": self.thread,
        });
        match (method, route) {
            (
                "POST",
                "/threads/{thread}/runs" | "/threads/{thread}/runs/stream" | "/threads/{thread}/runs/wait",
            ) => run,
            ("POST", "/runs/batch") => json!([run]),
            ("POST", "/threads/{thread}/runs/crons") => {
                json!({ "assistant_id": "slow", "schedule": "* * * * *", "input": { "name": "bob" } })
            }
            ("PATCH", "/runs/crons/{cron}") => json!({ "enabled": false }),
            ("POST", "/runs/crons/search" | "/runs/crons/count") => json!({ "thread_id": self.thread }),
            ("POST", "/runs/cancel") => json!({ "status": "all" }),
            ("POST", "/threads") => json!({ "thread_id": self.thread, "if_exists": "do_nothing" }),
            ("POST", "/threads/prune") => json!({ "thread_ids": [self.thread] }),
            ("POST", "/threads/search") => json!({ "ids": [self.thread] }),
            ("POST", "/threads/{thread}/state") => json!({ "values": { "name": "bob" } }),
            ("POST", "/threads/{thread}/state/checkpoint") => {
                json!({ "checkpoint": { "checkpoint_id": self.checkpoint, "thread_id": self.thread } })
            }
            ("POST", "/threads/{thread}/commands") => {
                json!({ "id": 1, "method": "run.start", "params": { "assistant_id": "slow", "input": { "name": "bob" } } })
            }
            ("POST", "/threads/{thread}/stream/events") => json!({ "channels": ["values"] }),
            ("PATCH", "/threads/{thread}" | "/threads/{thread}/state") => {
                json!({ "metadata": { "of": "bob" } })
            }
            ("POST", "/assistants") => {
                json!({ "graph_id": "order", "assistant_id": self.assistant, "if_exists": "do_nothing" })
            }
            ("POST", "/assistants/{assistant}/latest") => json!({ "version": 1 }),
            (_, "/store/items") => json!({ "namespace": ["ann", "notes"], "key": "k", "value": {} }),
            ("POST", "/store/items/search") => json!({ "namespace_prefix": ["ann"] }),
            ("POST", "/store/namespaces") => json!({ "prefix": ["ann"] }),
            ("POST", "/mcp") => json!({
                "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": self.assistant, "arguments": { "item": "tea" } },
            }),
            ("POST", "/a2a/{assistant}") => {
                json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": {} })
            }
            _ => json!({}),
        }
    }
}

/// The response that a stranger gets.
#[derive(Debug)]
enum Decision {
    /// The object does not exist.
    NotFound,
    /// This status.
    Status(u16),
    /// Any refusal.
    Refused,
    /// A list of the own objects, or an object that all share.
    Own,
}

fn decision(method: &str, route: &str) -> Decision {
    match (method, route) {
        (_, route) if route.starts_with("/threads/{thread}") => Decision::NotFound,
        (_, route) if route.starts_with("/assistants/{assistant}") => Decision::NotFound,
        (_, route) if route.starts_with("/runs/{run}") => Decision::NotFound,
        ("POST", "/runs/batch") | (_, "/runs/crons/{cron}") => Decision::NotFound,
        ("POST", "/runs/crons/search" | "/runs/crons/count") => Decision::Own,
        ("GET", "/metrics") => Decision::Status(403),
        (_, "/store/items" | "/store/items/search" | "/store/namespaces") => Decision::Status(403),
        ("POST", "/threads" | "/assistants") => Decision::Status(409),
        ("GET", "/" | "/ok" | "/info" | "/openapi.json" | "/docs") => Decision::Own,
        ("POST", "/assistants/search" | "/assistants/count" | "/threads/search" | "/threads/count") => {
            Decision::Own
        }
        ("POST", "/threads/prune" | "/runs/cancel" | "/mcp") => Decision::Own,
        // They need an assistant, and say so.
        ("POST", "/runs" | "/runs/stream" | "/runs/wait" | "/runs/crons") => Decision::Status(422),
        ("POST", "/mcp/") => Decision::Status(307),
        ("DELETE", "/mcp") | (_, "/a2a/{assistant}/.well-known/agent-card.json") => Decision::NotFound,
        // The response is an error of JSON-RPC.
        ("POST", "/a2a/{assistant}") => Decision::Own,
        // It needs the id of an assistant.
        ("GET", "/.well-known/agent-card.json") => Decision::Refused,
        _ => panic!("decide who may use {method} {route}, and add it here"),
    }
}

fn routes(document: &Value) -> Vec<(String, String)> {
    let paths = document["paths"].as_object().expect("paths");
    let methods = |path: &Value| path.as_object().expect("methods").keys().cloned().collect::<Vec<_>>();
    paths
        .iter()
        .flat_map(|(path, value)| {
            methods(value).into_iter().map(|method| (method.to_uppercase(), path.clone()))
        })
        .collect()
}

#[tokio::test]
async fn nobody_reads_or_changes_what_belongs_to_others() {
    let client = client().await;
    let (ann, bob) = (As(&client, "ann"), As(&client, "bob"));
    let anns = Anns::new(&ann).await;
    let thread = format!("/threads/{}", anns.thread);
    let seen = async || {
        let mut seen = Vec::new();
        for path in ["", "/state", "/history", "/runs"] {
            seen.push(ann.get(&format!("{thread}{path}")).await.ok());
        }
        seen.push(ann.get(&format!("/assistants/{}", anns.assistant)).await.ok());
        seen.push(ann.get(&format!("/runs/crons/{}", anns.cron)).await.ok());
        seen.push(ann.get("/store/items?namespace=ann.notes&key=k").await.ok());
        seen
    };
    let before = seen().await;
    let document = bob.get("/openapi.json").await.ok();
    let routes = routes(&document);
    assert!(routes.len() > 50, "{routes:?}");
    for (method, route) in &routes {
        let mut path = anns.path(route);
        if (method.as_str(), route.as_str()) == ("GET", "/store/items") {
            path = format!("{path}?namespace=ann.notes&key=k");
        }
        let reply = bob.call(method, &path, anns.body(method, route)).await;
        let decision = decision(method, route);
        let told = format!("{method} {route}: {decision:?}, but {} {}", reply.status, reply.text);
        match decision {
            Decision::NotFound => assert_eq!(reply.status, 404, "{told}"),
            Decision::Status(status) => assert_eq!(reply.status, status, "{told}"),
            Decision::Refused => assert!(reply.status.is_client_error(), "{told}"),
            Decision::Own => assert!(reply.status.is_success(), "{told}"),
        }
        for secret in ["of ann", &anns.checkpoint, "\"ann"] {
            assert!(!reply.text.contains(secret), "{told}");
        }
    }
    assert_eq!(seen().await, before);
    assert_eq!(client.gate.begun.load(std::sync::atomic::Ordering::SeqCst), 2, "no run of Bob has begun");
    // The run without a thread is still there for Ann.
    client.gate.open(2);
    let alone = ann.get(&format!("/runs/{}/join", anns.alone)).await;
    assert_eq!(alone.ok()["log"], json!(["ann begins", "ann done"]));
}

#[tokio::test]
async fn lists_and_counts_have_the_own_objects_only() {
    let client = client().await;
    let (ann, bob, root) = (As(&client, "ann"), As(&client, "bob"), As(&client, "root"));
    for (caller, count) in [(&ann, 3), (&bob, 2)] {
        for _ in 0..count {
            caller.post("/threads", json!({ "metadata": { "graph_id": "order" } })).await.ok();
        }
    }
    let mine = ann.post("/assistants", json!({ "graph_id": "order", "name": "of ann" })).await.ok();
    let shared = client_assistants(&bob).await;
    for sort in ["updated_at", "created_at", "thread_id", "status"] {
        for order in ["asc", "desc"] {
            let body = json!({ "sort_by": sort, "sort_order": order, "metadata": { "graph_id": "order" } });
            for (caller, count) in [(&ann, 3), (&bob, 2), (&root, 5)] {
                let listed = caller.post("/threads/search", body.clone()).await.ok();
                assert_eq!(listed.as_array().unwrap().len(), count, "{sort} {order}");
            }
        }
    }
    assert_eq!(bob.post("/threads/count", json!({})).await.ok(), 2);
    assert_eq!(client_assistants(&ann).await, shared + 1);
    assert_eq!(client_assistants(&root).await, shared + 1);
    let tools = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    assert!(ann.post("/mcp", tools.clone()).await.text.contains("of_ann"));
    assert!(!bob.post("/mcp", tools).await.text.contains("of_ann"));
    // All share the assistant of a graph, and only an operator changes it.
    let name = json!({ "name": "mine now" });
    assert!(ann.call("PATCH", "/assistants/order", name.clone()).await.refused(403).contains("shared"));
    ann.call("DELETE", "/assistants/order", json!({})).await.refused(403);
    let own = format!("/assistants/{}", text(&mine, "assistant_id"));
    assert_eq!(ann.call("PATCH", &own, name.clone()).await.ok()["version"], 2);
    root.call("PATCH", "/assistants/order", name).await.ok();
    assert_eq!(bob.get("/assistants/order").await.ok()["name"], "mine now");
}

#[tokio::test]
async fn tasks_of_others_do_not_exist() {
    let client = client().await;
    let (ann, bob) = (As(&client, "ann"), As(&client, "bob"));
    let call = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let message = |task: &Value| {
        json!({ "message": {
            "role": "user", "messageId": "m", "parts": [{ "data": { "item": "tea" } }],
            "taskId": task["id"], "contextId": task["contextId"],
        } })
    };
    let sent = ann.post("/a2a/order", call("message/send", message(&json!({})))).await.ok();
    let task = &sent["result"];
    assert_eq!(task["status"]["state"], "input-required", "{sent}");
    for (method, params, code) in [
        ("tasks/get", json!({ "id": task["id"] }), -32_001),
        ("tasks/cancel", json!({ "id": task["id"] }), -32_001),
        ("tasks/resubscribe", json!({ "id": task["id"] }), -32_001),
        ("message/send", message(task), -32_001),
        ("message/stream", message(&json!({ "contextId": task["contextId"] })), -32_602),
    ] {
        let refused = bob.post("/a2a/order", call(method, params)).await.ok();
        assert_eq!(refused["error"]["code"], code, "{method} {refused}");
    }
    let list = json!({ "contextId": task["contextId"] });
    for params in [json!({}), list] {
        assert_eq!(
            bob.post("/a2a/order", call("ListTasks", params.clone())).await.ok()["result"]["totalSize"],
            0
        );
        assert_eq!(ann.post("/a2a/order", call("ListTasks", params)).await.ok()["result"]["totalSize"], 1);
    }
}

async fn client_assistants(caller: &As<'_>) -> usize {
    let count = caller.post("/assistants/count", json!({})).await.ok();
    usize::try_from(count.as_u64().unwrap()).unwrap()
}

#[tokio::test]
async fn an_operator_works_on_the_threads_of_others() {
    let client = client().await;
    let (ann, root) = (As(&client, "ann"), As(&client, "root"));
    let thread = text(&ann.post("/threads", json!({})).await.ok(), "thread_id");
    let run = json!({ "assistant_id": "fail", "input": { "text": "fine" } });
    root.post(&format!("/threads/{thread}/runs/wait"), run).await.ok();
    let copy = text(&root.post(&format!("/threads/{thread}/copy"), json!({})).await.ok(), "thread_id");
    // What belongs to Ann still belongs to her, as does its copy.
    for id in [thread, copy] {
        assert_eq!(ann.get(&format!("/threads/{id}/state")).await.ok()["values"]["text"], "fine");
    }
}

#[tokio::test]
async fn callers_that_are_not_recognized_are_refused() {
    let client = client().await;
    client.get("/ok").await.ok();
    assert_eq!(client.get("/info").await.refused(401), "who is it?");
    assert_eq!(As(&client, "nobody").get("/info").await.refused(403), "nobody may not");
    // A key is needed in addition.
    let gate = Gate::new();
    let keyed = Client::of(server(&gate).authenticate(recognize).api_key("key"), gate).await;
    As(&keyed, "ann").get("/info").await.refused(401);
    let both = [("authorization", "Bearer ann"), ("x-api-key", "key")];
    read(keyed.send(Method::GET, "/info", None, &both).await).await.ok();
}

#[tokio::test]
async fn ids_of_threads_have_one_notation_per_caller() {
    let client = client().await;
    let (ann, bob) = (As(&client, "ann"), As(&client, "bob"));
    let thread = text(&ann.post("/threads", json!({})).await.ok(), "thread_id");
    let escaped = format!("/threads/%{:02x}{}/state", thread.as_bytes()[0], &thread[1..]);
    for id in [thread.to_uppercase(), thread.replace('-', ""), format!("urn:uuid:{thread}")] {
        ann.get(&format!("/threads/{id}/state")).await.ok();
        bob.get(&format!("/threads/{id}/state")).await.refused(404);
    }
    bob.get(&escaped).await.refused(422);
}
