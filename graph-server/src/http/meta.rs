//! `/ok` and `/info`.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use schemars::JsonSchema;
use serde::Serialize;

use crate::app::App;

use super::reply;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/", get(ok)).route("/ok", get(ok)).route("/info", get(info))
}

/// The health of the server.
#[derive(Serialize, JsonSchema)]
pub(super) struct Health {
    ok: bool,
}

/// The version of the server and what it supports.
#[derive(Serialize, JsonSchema)]
pub(super) struct Info {
    /// The version of the server.
    version: &'static str,
    flags: Flags,
    host: Host,
}

/// The parts of the protocol that the server has.
#[derive(Serialize, JsonSchema)]
struct Flags {
    assistants: bool,
    crons: bool,
    /// `true` if runs are traced by LangSmith.
    langsmith: bool,
}

/// The kind of the server. It belongs to no project of a hosting service.
#[derive(Serialize, JsonSchema)]
struct Host {
    kind: &'static str,
    project_id: Option<&'static str>,
    host_revision_id: Option<&'static str>,
    revision_id: Option<&'static str>,
    tenant_id: Option<&'static str>,
}

async fn ok() -> Response {
    reply::json(&Health { ok: true })
}

async fn info() -> Response {
    reply::json(&Info {
        version: env!("CARGO_PKG_VERSION"),
        flags: Flags { assistants: true, crons: true, langsmith: false },
        host: Host {
            kind: "self-hosted",
            project_id: None,
            host_revision_id: None,
            revision_id: None,
            tenant_id: None,
        },
    })
}
