use serde_json::{Map, Value};

use super::super::a2a::{AgentCard, CardQuery};
use super::super::meta::{Health, Info};
use super::Described;
use super::events::rpc_event;
use crate::protocol::{RpcCall, RpcResponse};

pub(super) const ROUTES: &[Described] = &[
    ("GET", "/ok", "health", |op| {
        op.ok::<Health>("The server is alive.");
    }),
    ("GET", "/", "root", |op| {
        op.ok::<Health>("The server is alive.");
    }),
    ("GET", "/info", "info", |op| {
        op.ok::<Info>("The server.");
    }),
    ("GET", "/openapi.json", "openapi", |op| {
        op.ok::<Map<String, Value>>("This document.");
    }),
    ("GET", "/docs", "docs", |op| {
        op.text("text/html", "The routes as a page.");
    }),
    ("GET", "/metrics", "metrics", |op| {
        op.text("text/plain", "The counters, in the text format of Prometheus.");
    }),
    ("POST", "/mcp", "mcp", |op| {
        op.about("The methods are `initialize`, `ping`, `tools/list` and `tools/call`.");
        op.json_body(&RpcCall::schema()).ok::<RpcResponse<'_>>("The response of the call.");
        op.empty(202, "The body was a notification or a response.");
        op.json_response::<RpcResponse<'_>>(400, "The body is not a call.");
    }),
    ("DELETE", "/mcp", "end_mcp_session", |op| {
        op.error(404, "The server has no sessions.");
    }),
    ("POST", "/mcp/", "redirect_mcp", |op| {
        op.empty(307, "The call belongs to `/mcp`.").header("Location", "`/mcp`");
    }),
    ("GET", "/.well-known/agent-card.json", "get_agent_card_of_query", |op| {
        op.query::<CardQuery>().ok::<AgentCard>("The card.");
        op.error(400, "The query names no assistant.").error(404, "There is no such assistant.");
    }),
    ("GET", "/a2a/{assistant}/.well-known/agent-card.json", "get_agent_card", |op| {
        op.ok::<AgentCard>("The card.");
    }),
    ("POST", "/a2a/{assistant}", "a2a", |op| {
        op.about(
            "The methods of version 1.0 are `SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask` and \
             `SubscribeToTask`; those of version 0.3 `message/send`, `message/stream`, `tasks/get`, `tasks/list`, `tasks/cancel` \
             and `tasks/resubscribe`. Errors are responses with the status 200.",
        );
        op.request_header("A2A-Version", "The version of the protocol: `0.3` or `1.0`.");
        op.json_body(&RpcCall::schema()).ok::<RpcResponse<'_>>("The response of the call.");
        let event = rpc_event(op.generator);
        op.events("The response of the call.", &event);
    }),
];
