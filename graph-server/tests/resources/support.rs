//! A server with two graphs, and requests to it.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use serde_json::Value;
use superstep::store::MemoryStore;
use superstep::{END, GraphState, Route, START, StateGraph};
use superstep_server::{Served, Server};
use tower::ServiceExt as _;

use crate::described;

/// A state with a field that no client may see.
#[derive(GraphState, Clone)]
#[state(schema)]
pub(crate) struct Order {
    #[state(input)]
    item: String,
    #[state(reducer = append)]
    log: Vec<String>,
    #[state(exclude)]
    card: String,
}

async fn note(order: &Order) -> OrderUpdate {
    Order::update().log([format!("noted {}", order.item)]).card("4111")
}

#[derive(Route)]
enum Check {
    #[to(note)]
    Again,
    #[to(END)]
    Enough,
}

async fn check(order: &Order) -> Check {
    if order.log.is_empty() { Check::Again } else { Check::Enough }
}

/// A response whose body was read.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {}", self.body))
    }

    /// The JSON of a successful response.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.body);
        self.json()
    }

    /// Checks the status of an error, and returns its `detail`.
    #[track_caller]
    pub(crate) fn error(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        assert_eq!(self.headers["content-type"], "application/json");
        self.json()["detail"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// A server in this process.
pub(crate) struct Client(pub(crate) Router);

impl Client {
    pub(crate) async fn new() -> Self {
        Self::with(|server| server).await
    }

    pub(crate) async fn with(options: impl FnOnce(Server) -> Server) -> Self {
        let inner = StateGraph::<Order>::new().edge(START, note).edge(note, check).compile().unwrap();
        let inner = inner.as_node("inner");
        let outer = StateGraph::<Order>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
        let orders = StateGraph::<Order>::new().edge(START, note).edge(note, check).compile().unwrap();
        let server = Server::new().graph("orders", Served::new(orders).with_schemas()).graph("outer", outer);
        let started = options(server.store(Arc::new(MemoryStore::new()))).start().await.unwrap();
        Self(described::compared(started.router()).await)
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.0.clone().oneshot(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
        Reply { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
    }

    async fn call(&self, method: Method, path: &str, body: Body) -> Reply {
        self.send(Request::builder().method(method).uri(path).body(body).unwrap()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path, Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path, body.to_string().into()).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path, body.to_string().into()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PATCH, path, body.to_string().into()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path, Body::empty()).await
    }

    /// Creates a thread with a state, and returns its id.
    pub(crate) async fn order(&self, item: &str, metadata: Value) -> String {
        let mut metadata = metadata;
        metadata["graph_id"] = "orders".into();
        let first = serde_json::json!({ "values": { "item": item }, "as_node": "__start__" });
        let body = serde_json::json!({ "metadata": metadata, "supersteps": [{ "updates": [first] }] });
        self.post("/threads", body).await.ok()["thread_id"].as_str().unwrap().to_owned()
    }
}
