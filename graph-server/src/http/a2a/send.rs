//! Messages of clients: they begin tasks, and answer the questions of tasks.

use std::sync::Arc;

use axum::response::Response;
use serde_json::{Value, json};
use superstep::interrupt::OpenInterrupt;

use super::task::{FoundTask, find};
use super::{Agent, no_notifications, refusal, result, shorten, stream as events};
use crate::events::LogReader;
use crate::http::run_reply::wait_for;
use crate::http::{new_run, reply};
use crate::protocol::a2a::{
    A2aError, Message, Role, SendParams, Task, TaskId, TaskState, Version, merged, stream_item,
};
use crate::protocol::{Object, RpcError, ThreadId, Timestamp};
use crate::records::MESSAGE_KEY;
use crate::runs::{Accepted, Attachment, LiveRun, RunThread};

/// A task that a message has begun or continued.
struct Begun {
    task: Task,
    live: Arc<LiveRun>,
    reader: LogReader,
    attachment: Attachment,
}

/// Responds with the task: when it has stopped, or at once if the client wants that.
pub(super) async fn send(agent: Agent, params: SendParams) -> Result<Response, RpcError> {
    let waits = params.waits;
    let Begun { mut task, live, attachment, .. } = begin(&agent, params).await?;
    let written = move |agent: &Agent, task: &Task| {
        agent.response(Ok(stream_item("task", task.to_json(agent.version), agent.version)))
    };
    if !waits {
        return Ok(reply::json(&written(&agent, &task)));
    }
    let run = live.run_id;
    Ok(wait_for(live, attachment, move |outcome| {
        task.at = Timestamp::now();
        result::apply(&mut task, run, &*agent.graph, outcome);
        written(&agent, &task).to_string()
    }))
}

/// Streams the task and its events.
pub(super) async fn stream(agent: Agent, params: SendParams) -> Result<Response, RpcError> {
    let Begun { task, live, reader, .. } = begin(&agent, params).await?;
    Ok(events::respond(agent, task, Some((reader, live))))
}

/// Accepts the run of a message. It continues if the client disconnects.
async fn begin(agent: &Agent, params: SendParams) -> Result<Begun, RpcError> {
    let SendParams { message, task, context, history: length, notifies, .. } = params;
    if notifies {
        return Err(no_notifications());
    }
    if message.has_files() {
        return Err(A2aError::ContentTypeNotSupported.because("files are not read: send text or data"));
    }
    if message.role != Role::User {
        return Err(RpcError::params("`message.role`: a client sends messages of the user"));
    }
    let continued = match task {
        Some(task) => Some(find(agent, &task).await?),
        None => None,
    };
    let mut body = json!({
        "assistant_id": agent.assistant.assistant_id,
        "if_not_exists": "create",
        // For the text of the agent while it works.
        "stream_mode": ["messages-tuple"],
    });
    let first = continued.as_ref().map(|task| task.id);
    // The ids in this copy are those of a task that is not known yet; they are not read again.
    let unknown = TaskId { thread: ThreadId::new(), run: crate::protocol::RunId::new() };
    let mut entry = json!({ "message": message.to_json(first.as_ref().unwrap_or(&unknown), Version::V1_0) });
    let mut history = Vec::new();
    let thread = match &continued {
        Some(task) => {
            if context.is_some_and(|context| context != task.id.thread) {
                return Err(RpcError::params(format!(
                    "`message.contextId`: the context of the task is `{}`",
                    task.id.thread
                )));
            }
            let answer = answer(agent, task, &message).await?;
            set(&mut body, "command", json!({ "resume": answer }));
            // Another answer has come first.
            set(&mut body, "multitask_strategy", json!("reject"));
            set(&mut entry, "task", json!(task.id.run));
            history = task.messages();
            task.id.thread
        }
        None => {
            set(&mut body, "input", Value::Object(input(agent, &message)?));
            context.unwrap_or_else(ThreadId::new)
        }
    };
    set(&mut body, MESSAGE_KEY, entry);
    history.push(message);
    shorten(&mut history, length);
    let accepting = new_run::accepted_events(Arc::clone(&agent.app), RunThread::Given(thread), body);
    let (Accepted { live, reader, record }, attachment) = accepting.await.map_err(refusal)?;
    let id = first.unwrap_or(TaskId { thread, run: live.run_id });
    let at = record.map_or_else(Timestamp::now, |run| run.created_at);
    let task = Task { id, state: TaskState::Submitted, message: None, at, history, artifacts: Vec::new() };
    Ok(Begun { task, live, reader, attachment })
}

fn set(object: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = object {
        fields.insert(name.to_owned(), value);
    }
}

/// Returns the input of a message: its data, and its text as a message of the user.
fn input(agent: &Agent, message: &Message) -> Result<Object, RpcError> {
    let mut input = merged(message.data()).map_err(RpcError::params)?;
    let Some(text) = message.text() else { return Ok(input) };
    if !agent.graph.schemas().input_has("messages") {
        return Err(RpcError::params(format!(
            "`message.parts`: the input of the graph `{}` has no field `messages`: send its input as data",
            agent.assistant.graph_id
        )));
    }
    let text = json!({ "role": "user", "content": text, "id": message.id });
    match input.entry("messages").or_insert_with(|| json!([])) {
        Value::Array(messages) => messages.push(text),
        _ => return Err(RpcError::params("`message.parts`: the data field `messages` is not an array")),
    }
    Ok(input)
}

/// Returns the answer in a message to the questions of a task.
///
/// Data is the answer itself, or an object with the ids of questions as its keys. Text is the answer if the question takes
/// a string; otherwise it is read as JSON.
async fn answer(agent: &Agent, task: &FoundTask, message: &Message) -> Result<Value, RpcError> {
    if task.state != TaskState::InputRequired {
        let message = match task.state.has_stopped() {
            true => format!("the task `{}` has ended: begin a new one in its context", task.id),
            false => format!("the task `{}` is working: wait for it, or cancel it", task.id),
        };
        return Err(A2aError::UnsupportedOperation.because(message));
    }
    let data: Vec<&Value> = message.data().collect();
    match data.as_slice() {
        [] => {}
        [one] => return Ok((*one).clone()),
        several => {
            let merged = merged(several.iter().copied()).map_err(RpcError::params)?;
            return Ok(Value::Object(merged));
        }
    }
    let text = message.text().unwrap_or_default();
    let state = agent.graph.state(&task.id.thread.to_string(), None).await.map_err(refusal)?;
    let open: Vec<&OpenInterrupt> = state.iter().flat_map(|state| state.interrupts()).collect();
    let text_answer = Value::String(text.clone());
    let fits = |answer: &Value| open.iter().all(|open| open.check_answer(answer).is_ok());
    if fits(&text_answer) {
        return Ok(text_answer);
    }
    // An answer that does not fit is refused with the reason when the run is accepted.
    Ok(serde_json::from_str(&text).unwrap_or(text_answer))
}
