//! `/threads/{thread}/commands`: the commands of the second version of the protocol.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use serde_json::{Value, json};

use super::body::read_bytes;
use super::path::ThreadPart;
use super::reply;
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::graphs::interrupt_id;
use crate::protocol::{
    CommandError, ErrorCode, InputRespond, Object, RunRequest, ThreadCommand, ThreadId, read_body,
};
use crate::runs::{NewRun, RunThread, accept};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/threads/{thread}/commands", post(command))
}

async fn command(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    request: Request,
) -> ApiResult<Response> {
    let body = read_bytes(request, app.options.body_limit).await?;
    let command = match ThreadCommand::parse(&body) {
        Ok(command) => command,
        Err(error) => return Ok((StatusCode::BAD_REQUEST, reply::json(&error.json())).into_response()),
    };
    let response = match command.method.as_str() {
        // They are about the socket on which they come.
        "subscription.subscribe" | "subscription.unsubscribe" => {
            Err(command.error(ErrorCode::UnknownCommand, "subscriptions need a WebSocket"))
        }
        _ => execute(&app, thread, &command).await,
    };
    Ok(reply::json(&response.unwrap_or_else(|error| error.json())))
}

/// Executes a command, and returns its response.
///
/// # Errors
/// The reason why the command is refused.
pub(super) async fn execute(
    app: &Arc<App>,
    thread: ThreadId,
    command: &ThreadCommand,
) -> Result<Value, CommandError> {
    match command.method.as_str() {
        "run.start" => {
            let mut body = command.params.clone();
            // Clients choose the id of a new thread.
            body.insert("if_not_exists".to_owned(), "create".into());
            let (run, seq) = start(app, thread, command, body).await?;
            Ok(command.success_after(json!({ "run_id": run }), seq))
        }
        "input.respond" => respond(app, thread, command).await,
        "agent.getTree" => {
            let visible =
                app.records.thread(thread).await.map_err(|error| failure(command, &error.into()))?;
            let runs = visible.map(|_| app.runs.unfinished(thread)).unwrap_or_default();
            let tree = runs.iter().find_map(|run| run.tree());
            match tree {
                Some(tree) => Ok(command.success(json!({ "tree": tree }))),
                None => Err(command.error(ErrorCode::NoSuchRun, "no run is active on this thread")),
            }
        }
        other => Err(command.error(ErrorCode::UnknownCommand, format!("unknown command `{other}`"))),
    }
}

/// Starts a run. Returns its id, and the number of the last event of the thread before it.
async fn start(
    app: &Arc<App>,
    thread: ThreadId,
    command: &ThreadCommand,
    mut body: Object,
) -> Result<(String, u64), CommandError> {
    body.insert("thread_events".to_owned(), true.into());
    // The events of the thread replace those of the run.
    body.remove("stream_mode");
    let request: RunRequest = read_body(Value::Object(body.clone()))
        .map_err(|problems| command.error(ErrorCode::InvalidArgument, problems.to_string()))?;
    let events = app.thread_streams.open(thread);
    let seq = events.last();
    let own = Arc::clone(app);
    // In a task of its own: if the client disconnects, the run is accepted completely.
    let accepting = tokio::spawn(async move {
        let thread = RunThread::Given(thread);
        let new = NewRun { thread, request, body, transient: false, streams: false, cron: None };
        accept(&own, new).await.map(|accepted| accepted.live.run_id.to_string())
    });
    let accepted = accepting.await.unwrap_or_else(|_| Err(ApiError::internal("the command has panicked")));
    match accepted {
        Ok(run) => Ok((run, seq)),
        Err(error) => Err(failure(command, &error)),
    }
}

fn failure(command: &ThreadCommand, error: &ApiError) -> CommandError {
    let code = match error.status {
        _ if error.no_checkpoint => ErrorCode::NoSuchCheckpoint,
        status if status.is_server_error() => ErrorCode::UnknownError,
        _ => ErrorCode::InvalidArgument,
    };
    command.error(code, error.text())
}

/// The time for which an answer waits for the run that is asking or was answered before.
const RUN_ENDS: Duration = Duration::from_secs(5);

async fn respond(app: &Arc<App>, thread: ThreadId, command: &ThreadCommand) -> Result<Value, CommandError> {
    let params = Value::Object(command.params.clone());
    let InputRespond { answers } = read_body(params)
        .map_err(|problems| command.error(ErrorCode::InvalidArgument, problems.to_string()))?;
    let failed = |error: ApiError| failure(command, &error);
    let record = app.records.thread(thread).await.map_err(|error| failed(error.into()))?;
    let record = record.filter(|record| record.graph_id.is_some());
    let Some(record) = record else { return Err(not_open(command, answers.keys())) };
    let waiting = async {
        for run in app.runs.unfinished(thread) {
            run.ended().await;
        }
        // The last run has ended, and leaves the thread now.
        while !app.runs.unfinished(thread).is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    if tokio::time::timeout(RUN_ENDS, waiting).await.is_err() {
        return Err(command.error(
            ErrorCode::NoSuchInterrupt,
            format!("thread `{thread}` is busy with a run, and asks nothing meanwhile"),
        ));
    }
    let graph_id = record.graph_id.unwrap_or_default();
    let state = match app.graphs.find(&graph_id) {
        Some(graph) => graph.state(&thread.to_string(), None).await.map_err(failed)?,
        None => None,
    };
    let open: Vec<_> = state.iter().flat_map(|state| state.interrupts()).collect();
    let unknown: Vec<_> = answers
        .keys()
        .filter(|id| !open.iter().any(|open| interrupt_id(open) == **id || open.id == **id))
        .collect();
    if !unknown.is_empty() {
        return Err(not_open(command, unknown));
    }
    let mut body = Object::new();
    for name in ["config", "context", "metadata", "durability"] {
        if let Some(value) = command.params.get(name) {
            body.insert(name.to_owned(), value.clone());
        }
    }
    let param = |name: &str| command.params.get(name).cloned().unwrap_or_default();
    let resume = json!({ "resume": answers, "update": param("update"), "goto": param("goto") });
    body.insert("command".to_owned(), resume);
    let assistant = record.assistant_id.map_or(graph_id, |assistant| assistant.to_string());
    body.insert("assistant_id".to_owned(), assistant.into());
    // Another answer was faster.
    body.insert("multitask_strategy".to_owned(), "reject".into());
    let (_, seq) = start(app, thread, command, body).await?;
    Ok(command.success_after(json!({}), seq))
}

fn not_open<'i>(command: &ThreadCommand, ids: impl IntoIterator<Item = &'i String>) -> CommandError {
    let ids: Vec<_> = ids.into_iter().map(|id| format!("`{id}`")).collect();
    let message = format!("no such question is open: {}", ids.join(", "));
    command.error(ErrorCode::NoSuchInterrupt, message)
}
