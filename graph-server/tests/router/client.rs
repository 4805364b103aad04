//! A client of the routes.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use superstep_server::{Server, Started};
use tower::ServiceExt as _;

use crate::{described, graphs};

/// A server and its routes.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) routes: Router,
    pub(crate) server: Started,
    pub(crate) gate: graphs::Gate,
}

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Checks the status, and returns the body.
    #[track_caller]
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text);
        self.json()
    }

    /// Checks the status of a refusal, and returns its detail.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text);
        self.json()["detail"].as_str().expect("a detail").to_owned()
    }

    /// The events of a stream: name, data, id.
    pub(crate) fn events(&self) -> Vec<(String, Value, Option<String>)> {
        parse_events(&self.text)
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

pub(crate) fn parse_events(text: &str) -> Vec<(String, Value, Option<String>)> {
    let frames = text.split("\r\n\r\n").filter(|frame| !frame.is_empty() && !frame.starts_with(':'));
    let field = |frame: &str, name: &str| {
        frame.split("\r\n").find_map(|line| line.strip_prefix(&format!("{name}: "))).map(str::to_owned)
    };
    frames
        .map(|frame| {
            let data = field(frame, "data").expect("data");
            let data = serde_json::from_str(&data).expect("JSON");
            (field(frame, "event").expect("a name"), data, field(frame, "id"))
        })
        .collect()
}

/// A server of all graphs of the tests, on stores that the caller sets.
pub(crate) fn server(gate: &graphs::Gate) -> Server {
    let gate = gate.clone();
    Server::new()
        .graph("order", graphs::order())
        .graph("fail", graphs::failing())
        .graph("chat", graphs::chat())
        .graph("nested", graphs::nested())
        .graph("trip", graphs::trip(true))
        .graph("unstored_trip", graphs::trip(false))
        .graph("agent", graphs::agent())
        .graph("deep", graphs::deep())
        .graph("raw", graphs::raw())
        .graph("secret", graphs::secret())
        .graph_with_context("greeting", graphs::greeting(), |request| request.read::<graphs::Tenant>())
        .graph_with_context("slow", graphs::slow(), move |_| Ok(gate.clone()))
}

impl Client {
    pub(crate) async fn new() -> Self {
        let gate = graphs::Gate::new();
        Self::of(server(&gate), gate).await
    }

    pub(crate) async fn of(server: Server, gate: graphs::Gate) -> Self {
        let server = server.start().await.expect("the server starts");
        Self { routes: described::compared(server.router()).await, server, gate }
    }

    /// Sends a request, and returns the response before its body is read.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<Value>,
        headers: &[(&str, &str)],
    ) -> Response {
        let mut request =
            Request::builder().method(method).uri(path).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        self.routes.clone().oneshot(request.body(body).expect("a request")).await.expect("a response")
    }

    pub(crate) async fn reply(&self, method: Method, path: &str, body: Option<Value>) -> Reply {
        read(self.send(method, path, body, &[]).await).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        self.reply(Method::POST, path, Some(body)).await
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        self.reply(Method::GET, path, None).await
    }

    /// Creates a thread, and returns its id.
    pub(crate) async fn thread(&self) -> String {
        let thread = self.post("/threads", json!({})).await.ok();
        thread["thread_id"].as_str().expect("an id").to_owned()
    }

    /// Waits until the run has ended, and returns it.
    pub(crate) async fn ended(&self, thread: &str, run: &str) -> Value {
        for _ in 0..2_000 {
            let found = self.get(&format!("/threads/{thread}/runs/{run}")).await.ok();
            if found["status"] != "pending" && found["status"] != "running" {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        panic!("the run does not end");
    }
}

/// Reads a response to its end.
pub(crate) async fn read(response: Response) -> Reply {
    let (parts, body) = response.into_parts();
    let bytes = body.collect().await.expect("a body").to_bytes();
    Reply { status: parts.status, headers: parts.headers, text: String::from_utf8_lossy(&bytes).into_owned() }
}
