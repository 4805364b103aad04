//! Compares every response with `/openapi.json`: its status, its media type, its JSON, and each event of a stream.

pub(crate) mod schema;

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use serde_json::{Value, json};
use tower::ServiceExt as _;

use schema::check;

/// Returns the document of a server.
pub(crate) async fn document(routes: &Router) -> Value {
    let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
    let response = routes.clone().oneshot(request).await.unwrap();
    serde_json::from_slice(&to_bytes(response.into_body(), usize::MAX).await.unwrap()).unwrap()
}

/// Returns routes whose responses are compared with the document. A difference panics in the client that reads the body.
pub(crate) async fn compared(routes: Router) -> Router {
    static DOCUMENT: OnceLock<Arc<Value>> = OnceLock::new();
    let document = document(&routes).await;
    let document = Arc::clone(DOCUMENT.get_or_init(|| Arc::new(document)));
    routes.layer(from_fn(move |request: Request, next: Next| {
        let document = Arc::clone(&document);
        async move {
            let method = request.method().as_str().to_ascii_lowercase();
            let path = request.uri().path().to_owned();
            let response = next.run(request).await;
            match operation(&document, &method, &path) {
                Some(operation) => {
                    let operation = operation.clone();
                    compare(format!("{method} {path}"), &operation, document, response)
                }
                None => response,
            }
        }
    }))
}

/// Finds the operation of a request. A path without parameters comes before one with them.
fn operation<'d>(document: &'d Value, method: &str, path: &str) -> Option<&'d Value> {
    let paths = document["paths"].as_object().unwrap();
    let segments: Vec<&str> = path.split('/').collect();
    let fits = |template: &&String| {
        let template: Vec<&str> = template.split('/').collect();
        template.len() == segments.len()
            && template.iter().zip(&segments).all(|(part, segment)| part.starts_with('{') || part == segment)
    };
    let found = paths.keys().filter(fits).min_by_key(|template| template.matches('{').count())?;
    paths[found].get(method)
}

fn compare(place: String, operation: &Value, document: Arc<Value>, response: Response) -> Response {
    let status = response.status().as_u16();
    let responses = operation["responses"].as_object().unwrap();
    let group = format!("{}XX", status / 100);
    let described = responses.get(&status.to_string()).or_else(|| responses.get(&group));
    let described = described.unwrap_or_else(|| panic!("{place}: the status {status} is not described"));
    let media_type = response.headers().get("content-type").map(|kind| kind.to_str().unwrap().to_owned());
    let Some(contents) = described.get("content") else {
        if status < 500 {
            assert!(response.body().size_hint().exact() == Some(0), "{place}: {status} has a body");
        }
        return response;
    };
    let media_type = media_type.unwrap_or_else(|| panic!("{place}: {status} has no media type"));
    let media_type = media_type.split(';').next().unwrap().to_owned();
    let schema = contents[&media_type]["schema"].clone();
    assert!(schema.is_object(), "{place}: {status} is {media_type}, which is not described");
    if media_type != "application/json" && media_type != "text/event-stream" {
        return response;
    }
    let events = (media_type == "text/event-stream").then(|| schema["contentSchema"]["items"].clone());
    response.map(|body| Body::new(Compared { body, place, seen: Vec::new(), schema, events, document }))
}

/// A body that is compared when it is read.
struct Compared {
    body: Body,
    place: String,
    /// The bytes that were not compared yet.
    seen: Vec<u8>,
    schema: Value,
    /// The schema of an event, if the body is a stream of events.
    events: Option<Value>,
    document: Arc<Value>,
}

impl Compared {
    fn check(&self, schema: &Value, value: &Value) {
        if let Err(problem) = check(&self.document, schema, value) {
            panic!("{}: {problem} in {value}", self.place);
        }
    }

    /// Compares the events that are complete.
    fn check_events(&mut self, event: &Value) {
        while let Some(end) = self.seen.windows(4).position(|window| window == b"\r\n\r\n") {
            let frame: Vec<u8> = self.seen.drain(..end + 4).collect();
            let frame = String::from_utf8(frame).unwrap();
            if frame.starts_with(':') {
                continue;
            }
            let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
            // Raw JSON may have line breaks: each line is a field.
            let lines: Vec<_> = frame.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
            let Some(data) = read(lines.join("\n").as_bytes()) else { continue };
            let mut found = json!({ "event": field("event"), "data": data });
            if let Some(id) = field("id") {
                found["id"] = id.into();
            }
            self.check(event, &found);
        }
    }
}

/// Reads JSON. `None` if it is deeper than `serde_json` reads.
fn read(json: &[u8]) -> Option<Value> {
    match serde_json::from_slice(json) {
        Ok(value) => Some(value),
        Err(error) if error.to_string().starts_with("recursion limit") => None,
        Err(error) => panic!("{error}: {}", String::from_utf8_lossy(json)),
    }
}

impl HttpBody for Compared {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, axum::Error>>> {
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => self.seen.extend(frame.data_ref().into_iter().flatten()),
            Some(Err(_)) => {}
            None if self.events.is_none() => {
                if let Some(value) = read(&std::mem::take(&mut self.seen)) {
                    self.check(&self.schema, &value);
                }
            }
            None => {}
        }
        if let Some(event) = self.events.clone() {
            self.check_events(&event);
        }
        Poll::Ready(frame)
    }
}
