//! A thread as clients see it: its record and its state.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, stream};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::graphs::{StateView, interrupt_id, task_uuid};
use crate::protocol::{Object, RunError, ThreadId, ThreadStatus, Timestamp, TtlStrategy};
use crate::records::ThreadRecord;

/// The number of states that one request reads at a time.
const AT_ONCE: usize = 16;

/// A thread with its state.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Thread")]
pub(super) struct ThreadJson<'t> {
    /// The id.
    thread_id: ThreadId,
    /// The time of creation.
    created_at: Timestamp,
    /// The time of the last change.
    updated_at: Timestamp,
    /// The time of the last change of the state.
    state_updated_at: Timestamp,
    /// The metadata.
    metadata: &'t Object,
    /// The status.
    status: ThreadStatus,
    /// The config of the last run.
    config: &'t Object,
    /// The context of the last run.
    context: &'t Object,
    /// The state, as the `state_schema` of its graph describes it. Null if the thread has none.
    values: Value,
    /// The error of the last run.
    error: Option<&'t RunError>,
    /// The open questions by the ids of their tasks.
    interrupts: BTreeMap<String, Vec<InterruptJson>>,
    /// The time to live, if `include` asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    ttl: Option<TtlJson>,
    /// The values that `extract` asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    extracted: Option<Object>,
}

/// An open question.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Interrupt")]
pub(super) struct InterruptJson {
    /// The id, by which `command.resume` answers it.
    id: String,
    /// The question.
    value: Value,
}

/// The time to live of a thread.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ThreadTtl")]
pub(super) struct TtlJson {
    /// The treatment of the thread at the end.
    pub(super) strategy: TtlStrategy,
    /// The number of minutes.
    pub(super) ttl_minutes: f64,
    /// The beginning of the time.
    pub(super) created_at: Timestamp,
    /// The end.
    pub(super) expires_at: Option<Timestamp>,
}

/// Reads the latest state of a thread. `None` if it has none, or if its graph is not served.
///
/// # Errors
/// The state cannot be read.
pub(super) async fn state_of(app: &App, thread: &ThreadRecord) -> ApiResult<Option<StateView>> {
    let Some(graph) = thread.graph_id.as_ref().and_then(|graph| app.graphs.find(graph)) else {
        return Ok(None);
    };
    graph.state(&thread.thread_id.to_string(), None).await
}

/// Returns the JSON of a thread with its state.
pub(super) async fn with_state(app: &App, thread: &ThreadRecord) -> ApiResult<Object> {
    thread_json(thread, state_of(app, thread).await)
}

/// Returns the JSON of threads with their states. A state that cannot be read does not spoil the list: its thread has the
/// error in the place of the state.
pub(super) async fn all_with_states(app: &App, threads: &[ThreadRecord]) -> ApiResult<Vec<Object>> {
    let reads: Vec<_> = threads.iter().map(|thread| state_of(app, thread)).collect();
    let states: Vec<_> = stream::iter(reads).buffered(AT_ONCE).collect().await;
    threads.iter().zip(states).map(|(thread, state)| thread_json(thread, state)).collect()
}

/// Returns the JSON of a thread. Without a state, its `values` are null.
pub(super) fn thread_json(thread: &ThreadRecord, state: ApiResult<Option<StateView>>) -> ApiResult<Object> {
    let read = state.and_then(|state| Ok((values(state.as_ref())?, state)));
    let (values, state, unreadable) = match read {
        Ok((values, state)) => (values, state, None),
        Err(error) => {
            let error = RunError { error: "UnreadableState".to_owned(), message: error.text() };
            (Value::Null, None, Some(error))
        }
    };
    let shown = ThreadJson {
        thread_id: thread.thread_id,
        created_at: thread.created_at,
        updated_at: thread.updated_at,
        state_updated_at: thread.state_updated_at,
        metadata: &thread.metadata,
        status: thread.status,
        config: &thread.config,
        context: &thread.context,
        values,
        error: unreadable.as_ref().or(thread.error.as_ref()),
        interrupts: state.as_ref().map(interrupts).unwrap_or_default(),
        ttl: None,
        extracted: None,
    };
    match json!(shown) {
        Value::Object(object) => Ok(object),
        _ => Ok(Object::new()),
    }
}

/// Returns the values of a state.
pub(super) fn values(state: Option<&StateView>) -> ApiResult<Value> {
    let Some(values) = state.and_then(|state| state.values.as_ref()) else { return Ok(Value::Null) };
    // JSON that was written can be read, but for its depth.
    serde_json::from_str(values.get())
        .map_err(|error| ApiError::internal(format!("the state of the thread cannot be read: {error}")))
}

/// Returns the open questions of a state by the ids of their tasks.
fn interrupts(state: &StateView) -> BTreeMap<String, Vec<InterruptJson>> {
    let waiting = state.tasks.iter().filter(|task| !task.interrupts.is_empty());
    let questions = |open: &[superstep::interrupt::OpenInterrupt]| {
        open.iter()
            .map(|open| InterruptJson { id: interrupt_id(open), value: open.question.clone() })
            .collect::<Vec<_>>()
    };
    waiting.map(|task| (task_uuid(&task.id), questions(&task.interrupts))).collect()
}
