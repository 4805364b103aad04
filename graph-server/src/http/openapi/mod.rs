//! `/openapi.json`: the routes as an OpenAPI document. The schemas are those of the types that read and write the bodies.

mod assistants;
mod events;
mod operation;
mod protocols;
mod runs;
mod selected;
mod store;
mod threads;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use super::reply;
use super::route_table::{ROUTES, Route};
use crate::app::App;
use crate::protocol::schema::generator;

use operation::Operation;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/openapi.json", get(async || -> Response { reply::json_text(DOCUMENT.as_str().to_owned()) }))
}

/// The document. It is made when it is first asked for.
static DOCUMENT: LazyLock<String> = LazyLock::new(|| document().to_string());

/// A route as its file describes it: the method, the path, the id of the operation, and the rest.
type Described = (&'static str, &'static str, &'static str, fn(&mut Operation<'_>));

/// The descriptions of all routes.
fn described(route: &Route) -> Option<&'static Described> {
    let all = [assistants::ROUTES, threads::ROUTES, runs::ROUTES, store::ROUTES, protocols::ROUTES];
    all.into_iter().flatten().find(|(method, path, ..)| (*method, *path) == (route.method, route.path))
}

/// Returns the document.
fn document() -> Value {
    let mut generator = generator();
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        if let Some(path) = path.as_object_mut() {
            path.insert(route.method.to_ascii_lowercase(), operation(route, &mut generator));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "superstep agent server",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The protocol of the LangGraph agent server. Inputs, states and outputs belong to the graphs: \
                            `/assistants/{assistant}/schemas` has their JSON Schemas.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "tags": TAGS.map(|(name, description)| json!({ "name": name, "description": description })),
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "key": { "type": "apiKey", "in": "header", "name": "x-api-key" },
                "token": { "type": "http", "scheme": "bearer" },
            },
        },
    })
}

/// The groups of routes.
const TAGS: [(&str, &str); 8] = [
    ("assistants", "Graphs with their settings."),
    ("threads", "Conversations: states with their history."),
    ("runs", "Executions of an assistant on a thread."),
    ("crons", "Schedules that start runs."),
    ("store", "The long-term store, which all threads share."),
    ("a2a", "The assistants as agents of the Agent2Agent protocol."),
    ("mcp", "The assistants as tools of the Model Context Protocol."),
    ("server", "The server itself."),
];

fn tag(path: &str) -> &'static str {
    let found = match path {
        path if path.contains("crons") => "crons",
        path if path.contains("/runs") => "runs",
        path if path.contains("agent-card") => "a2a",
        path => path.split('/').nth(1).unwrap_or_default(),
    };
    TAGS.iter().map(|(name, _)| *name).find(|name| *name == found).unwrap_or("server")
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut operation = Operation::of(route, generator);
    let id = described(route).map(|(_, _, id, describe)| {
        describe(&mut operation);
        *id
    });
    operation.json(id, tag(route.path))
}

#[cfg(test)]
mod tests;
