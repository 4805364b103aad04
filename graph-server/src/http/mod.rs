//! The routes, one file for each resource.

mod body;
mod cors;
mod error;
mod guard;
mod open_body;
mod path;
mod query;
mod reply;
mod route_table;

mod docs;
mod meta;
mod metrics;
mod openapi;

mod assistant_graph;
mod assistants;
mod drawing;

mod thread_commands;
mod thread_events;
mod thread_json;
mod thread_search;
mod thread_socket;
mod threads;

mod crons;
mod new_run;
mod run_batch;
mod run_queries;
mod run_reply;
mod runs;
mod sse;
mod stateless_runs;

mod state;
mod state_json;

mod store;

mod a2a;
mod mcp;
mod mcp_tools;

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};

use crate::api_error::ApiError;
use crate::app::App;

/// Returns the routes of the server.
pub(crate) fn routes(app: Arc<App>) -> Router {
    Router::new()
        .merge(meta::routes())
        .merge(openapi::routes())
        .merge(docs::routes())
        .merge(metrics::routes())
        .merge(assistants::routes())
        .merge(assistant_graph::routes())
        .merge(threads::routes())
        .merge(runs::routes())
        .merge(stateless_runs::routes())
        .merge(thread_commands::routes())
        .merge(thread_events::routes())
        .merge(thread_socket::routes())
        .merge(run_batch::routes())
        .merge(crons::routes())
        .merge(state::routes())
        .merge(store::routes())
        .merge(a2a::routes())
        .merge(mcp::routes())
        .fallback(async || ApiError::not_found("Not Found"))
        .method_not_allowed_fallback(async || {
            ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed")
        })
        .layer(from_fn_with_state(Arc::clone(&app), guard::guard))
        .layer(from_fn(cors::allow_origins))
        .with_state(app)
}
