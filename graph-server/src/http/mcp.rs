//! `/mcp`: the assistants as tools of the Model Context Protocol, over its streamable HTTP transport without sessions.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use axum::routing::post;
use serde_json::{Map, Value, json};

use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::protocol::{RpcCall, RpcError, rpc_response};

use super::body::read_bytes;
use super::mcp_tools::{Tool, tools};
use super::run_reply::wait_for;
use super::{new_run, reply};
use crate::runs::RunThread;

/// The versions of the protocol that the server speaks, newest first.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

pub(super) fn routes() -> Router<Arc<App>> {
    // There are no sessions to end.
    let no_session = async || ApiError::not_found("the server has no MCP sessions");
    Router::new()
        .route("/mcp", post(call).delete(no_session))
        .route("/mcp/", post(async || Redirect::temporary("../mcp")))
}

async fn call(Shared(app): Shared, request: axum::extract::Request) -> ApiResult<Response> {
    let bytes: Bytes = read_bytes(request, app.options.body_limit).await?;
    let value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(error) => return Ok(refused(RpcError::parse(format!("the body is not JSON: {error}")))),
    };
    let call = match RpcCall::read(value) {
        Ok(Some(call)) => call,
        Ok(None) => return Ok(StatusCode::ACCEPTED.into_response()),
        Err(error) => return Ok(refused(error)),
    };
    let Some(id) = call.id else { return Ok(StatusCode::ACCEPTED.into_response()) };
    let result = match call.method.as_str() {
        "initialize" => Ok(initialize(&call.params)),
        "ping" => Ok(json!({})),
        "tools/list" => list(&app).await,
        "tools/call" => match called_tool(&app, call.params).await {
            Ok((tool, arguments)) => return Ok(run(app, id, tool, arguments).await),
            Err(error) => Err(error),
        },
        other => Err(RpcError::method(other)),
    };
    Ok(reply::json(&rpc_response(&id, result)))
}

/// Responds to something that is not a call.
fn refused(error: RpcError) -> Response {
    (StatusCode::BAD_REQUEST, reply::json(&rpc_response(&Value::Null, Err(error)))).into_response()
}

fn initialize(params: &Map<String, Value>) -> Value {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let version = asked.filter(|asked| VERSIONS.contains(asked)).unwrap_or(VERSIONS[0]);
    json!({
        "protocolVersion": version,
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": { "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") },
    })
}

async fn list(app: &App) -> Result<Value, RpcError> {
    let tools = tools(app).await.map_err(|error| RpcError::internal(error.text()))?;
    Ok(json!({ "tools": tools.iter().map(Tool::to_json).collect::<Vec<_>>() }))
}

/// Finds the tool of a call. Returns it with its arguments.
async fn called_tool(app: &App, mut params: Map<String, Value>) -> Result<(Tool, Value), RpcError> {
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(RpcError::params("`name`: expected a string"));
    };
    let arguments = match params.remove("arguments") {
        None | Some(Value::Null) => Value::Object(Map::new()),
        Some(arguments @ Value::Object(_)) => arguments,
        Some(_) => return Err(RpcError::params("`arguments`: expected an object")),
    };
    let tools = tools(app).await.map_err(|error| RpcError::internal(error.text()))?;
    match tools.into_iter().find(|tool| tool.name == name) {
        Some(tool) => Ok((tool, arguments)),
        None => Err(RpcError::params(format!("there is no tool `{name}`"))),
    }
}

/// Runs the assistant of a tool on a thread of its own, and responds with the output. The run is cancelled if the client
/// disconnects.
async fn run(app: Arc<App>, id: Value, tool: Tool, arguments: Value) -> Response {
    let body = json!({
        "assistant_id": tool.assistant_id.to_string(), "input": arguments, "on_disconnect": "cancel",
    });
    match new_run::accepted_call(app, RunThread::New, body).await {
        Ok((live, attachment)) => {
            wait_for(live, attachment, move |outcome| rpc_response(&id, Ok(tool.result(outcome))).to_string())
        }
        // As a result and not as an error, so that a model can read it and correct its arguments.
        Err(error) if error.status.is_client_error() => {
            reply::json(&rpc_response(&id, Ok(Tool::failure(error.text()))))
        }
        Err(error) => reply::json(&rpc_response(&id, Err(RpcError::internal(error.text())))),
    }
}
