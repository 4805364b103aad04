//! `/a2a/{assistant}`: the assistants as agents of the Agent2Agent protocol, over JSON-RPC.
//!
//! A context is a thread. A task is the run that a message has begun, with the runs that later messages for the task have begun:
//! those that answer its questions.

mod card;
mod list;
mod result;
mod send;
mod stream;
mod task;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::Value;

use super::assistants;
use super::body::read_bytes;
use super::path::AssistantPart;
use super::reply;
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::graphs::AnyGraph;
use crate::protocol::a2a::{A2aError, Message, Method, Version};
use crate::protocol::{Read, RpcCall, RpcError, read_body, rpc_response};
use crate::records::AssistantRecord;

pub(super) use card::{AgentCard, CardQuery};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/.well-known/agent-card.json", get(card::of_query))
        .route("/a2a/{assistant}/.well-known/agent-card.json", get(card::of_path))
        .route("/a2a/{assistant}", post(call))
}

/// An assistant that is called, and the way to respond.
#[derive(Clone)]
struct Agent {
    app: Arc<App>,
    assistant: AssistantRecord,
    graph: Arc<dyn AnyGraph>,
    /// The id of the call.
    id: Value,
    version: Version,
}

impl Agent {
    fn response(&self, result: Result<Value, RpcError>) -> Value {
        rpc_response(&self.id, result)
    }
}

async fn call(Shared(app): Shared, part: AssistantPart, request: Request) -> ApiResult<Response> {
    let version = request.headers().get("a2a-version");
    let version = version.map(|version| version.to_str().unwrap_or("?").to_owned()).unwrap_or_default();
    let bytes = read_bytes(request, app.options.body_limit).await?;
    let call = match read(&bytes) {
        Ok(call) => call,
        Err(error) => return Ok(reply::json(&rpc_response(&Value::Null, Err(error)))),
    };
    let Some(id) = call.id.clone() else {
        let error = RpcError::request("`id`: required");
        return Ok(reply::json(&rpc_response(&Value::Null, Err(error))));
    };
    let result = respond(app, &part, id.clone(), call, &version).await;
    // Errors have the status 200: clients read only such bodies.
    Ok(result.unwrap_or_else(|error| reply::json(&rpc_response(&id, Err(error)))))
}

fn read(bytes: &[u8]) -> Result<RpcCall, RpcError> {
    let value = serde_json::from_slice(bytes)
        .map_err(|error| RpcError::parse(format!("the body is not JSON: {error}")))?;
    RpcCall::read(value)?.ok_or_else(|| RpcError::request("`method`: required"))
}

async fn respond(
    app: Arc<App>,
    part: &AssistantPart,
    id: Value,
    call: RpcCall,
    version: &str,
) -> Result<Response, RpcError> {
    Version::check(version)?;
    let (method, version) = Method::find(&call.method).ok_or_else(|| RpcError::method(&call.method))?;
    let assistant = assistants::find(&app, part).await.map_err(refusal)?;
    let graph = app
        .graphs
        .find(&assistant.graph_id)
        .cloned()
        .ok_or_else(|| RpcError::params(format!("the server has no graph `{}`", assistant.graph_id)))?;
    let agent = Agent { app, assistant, graph, id, version };
    let params = Value::Object(call.params);
    match method {
        Method::Send => send::send(agent, read_params(params)?).await,
        Method::Stream => send::stream(agent, read_params(params)?).await,
        Method::Get => task::get(&agent, read_params(params)?).await,
        Method::List => list::list(&agent, read_params(params)?).await,
        Method::Cancel => task::cancel_task(&agent, read_params(params)?).await,
        Method::Subscribe => task::subscribe(agent, read_params(params)?).await,
        Method::PushNotification => Err(no_notifications()),
        Method::ExtendedCard => {
            Err(A2aError::ExtendedCardNotConfigured.because("the agent card says everything"))
        }
    }
}

fn read_params<T: Read>(params: Value) -> Result<T, RpcError> {
    read_body(params).map_err(|problems| RpcError::params(problems.to_string()))
}

fn no_notifications() -> RpcError {
    A2aError::PushNotificationNotSupported
        .because("this server sends no push notifications: stream or poll the task")
}

/// Converts an error of a request.
fn refusal(error: ApiError) -> RpcError {
    if error.status.is_server_error() {
        RpcError::internal(error.text())
    } else if error.status == axum::http::StatusCode::CONFLICT {
        A2aError::UnsupportedOperation.because(error.text())
    } else {
        RpcError::params(error.text())
    }
}

/// Keeps the newest messages of a history.
fn shorten(history: &mut Vec<Message>, length: Option<u64>) {
    let length = length.and_then(|length| usize::try_from(length).ok()).unwrap_or(usize::MAX);
    history.drain(..history.len().saturating_sub(length));
}
