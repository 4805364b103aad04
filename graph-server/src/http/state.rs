//! `/threads/{thread}/state` and `/threads/{thread}/history`.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;
use superstep::checkpoint::CheckpointId;

use super::body::Body;
use super::path::ThreadPart;
use super::query::{Options, Query, ReadQuery};
use super::reply;
use super::state_json::{Show, ThreadState, config, find_call};
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::graphs::{AnyGraph, HistoryQuery, RunContext, UpdateSpec, read_checkpoint_id};
use crate::protocol::{
    CheckpointConfig, HistoryRequest, MAX_HISTORY, MetadataPatch, RunId, StateAt, StateUpdate, ThreadId,
    ThreadStatus, Timestamp,
};
use crate::records::ThreadRecord;
use crate::runs::{hold, no_thread};
use crate::stream::state_update;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/threads/{thread}/state", get(show).post(update).patch(patch))
        .route("/threads/{thread}/state/checkpoint", post(show_checkpoint))
        .route("/threads/{thread}/state/{checkpoint}", get(show_at))
        .route("/threads/{thread}/history", post(history).get(history_of_query))
}

/// The options of a state.
#[derive(JsonSchema)]
pub(super) struct StateQuery {
    /// `true` to include the states of subgraphs.
    pub(super) subgraphs: bool,
}

impl ReadQuery for StateQuery {
    fn read(query: &mut Query) -> Self {
        Self { subgraphs: query.flag("subgraphs") }
    }
}

/// The options of a history.
#[derive(JsonSchema)]
pub(super) struct HistoryPage {
    /// The maximum number of states.
    pub(super) limit: usize,
    /// Only states before the checkpoint with this id.
    pub(super) before: Option<String>,
}

impl ReadQuery for HistoryPage {
    fn read(query: &mut Query) -> Self {
        Self {
            limit: query.integer("limit", 1..=usize::try_from(MAX_HISTORY).unwrap_or(usize::MAX), 10),
            before: query.text("before").map(str::to_owned),
        }
    }
}

async fn show(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Options(options): Options<StateQuery>,
) -> ApiResult<Response> {
    state(&app, thread, &CheckpointConfig::default(), options.subgraphs).await
}

async fn show_at(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Path((_, checkpoint)): Path<(String, String)>,
    Options(options): Options<StateQuery>,
) -> ApiResult<Response> {
    let at = CheckpointConfig { checkpoint_id: Some(checkpoint), ..CheckpointConfig::default() };
    state(&app, thread, &at, options.subgraphs).await
}

async fn show_checkpoint(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<StateAt>,
) -> ApiResult<Response> {
    state(&app, thread, &body.checkpoint, body.subgraphs).await
}

/// Finds a thread, and the graph that reads its state. Without a run or an update, a thread has no graph.
async fn find(app: &App, thread: ThreadId) -> ApiResult<(ThreadRecord, Option<Arc<dyn AnyGraph>>)> {
    let record = app.records.thread(thread).await?.ok_or_else(|| no_thread(thread))?;
    let graph = match &record.graph_id {
        Some(id) => Some(app.graphs.find(id).cloned().ok_or_else(|| {
            ApiError::not_found(format!("thread `{thread}` belongs to the graph `{id}`, which is not served"))
        })?),
        None => None,
    };
    Ok((record, graph))
}

fn checkpoint_id(text: &str) -> ApiResult<CheckpointId> {
    read_checkpoint_id(text)
        .ok_or_else(|| ApiError::unprocessable(format!("`{text}` is not a checkpoint id")))
}

fn no_checkpoint(thread: ThreadId, id: &str) -> ApiError {
    ApiError::no_checkpoint(format!("thread `{thread}` has no checkpoint `{id}`"))
}

async fn state(app: &App, thread: ThreadId, at: &CheckpointConfig, nested: bool) -> ApiResult<Response> {
    let (_, graph) = find(app, thread).await?;
    let id = at.checkpoint_id.as_deref().map(checkpoint_id).transpose()?;
    let missing = |id: &Option<String>| match id {
        Some(id) => Err(no_checkpoint(thread, id)),
        None => Ok(reply::json(&ThreadState::empty())),
    };
    let Some(graph) = graph else { return missing(&at.checkpoint_id) };
    let name = thread.to_string();
    // The checkpoint of a subgraph is found from the calls of the latest checkpoint.
    let root = id.filter(|_| at.checkpoint_ns.is_empty());
    let Some(view) = graph.state(&name, root).await? else { return missing(&at.checkpoint_id) };
    let calls = if graph.has_subgraphs() { graph.calls(&name, Some(view.id)).await? } else { Vec::new() };
    if at.checkpoint_ns.is_empty() {
        return Ok(reply::json(&ThreadState::of(
            thread,
            view,
            &calls,
            Show { nested, latest: id.is_none() },
        )));
    }
    let Some(call) = find_call(&view, &calls, &at.checkpoint_ns) else {
        return Err(ApiError::not_found(format!(
            "thread `{thread}` has no subgraph call `{}`",
            at.checkpoint_ns
        )));
    };
    let namespace = at.checkpoint_ns.as_str();
    match id.filter(|id| *id != call.id) {
        None => Ok(reply::json(&ThreadState::of_call(thread, namespace, call, nested))),
        Some(id) => {
            let query = HistoryQuery { limit: usize::MAX, before: None, ..HistoryQuery::default() };
            let history = graph.call_history(&name, &call.namespace, query).await?;
            let found = history.iter().find(|call| call.id == id);
            let found = found.ok_or_else(|| no_checkpoint(thread, &crate::graphs::checkpoint_uuid(id)))?;
            Ok(reply::json(&ThreadState::of_call(thread, namespace, found, nested)))
        }
    }
}

async fn history(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<HistoryRequest>,
) -> ApiResult<Response> {
    states(&app, thread, body).await
}

async fn history_of_query(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Options(HistoryPage { limit, before }): Options<HistoryPage>,
) -> ApiResult<Response> {
    let request = HistoryRequest { limit, before, metadata: serde_json::Map::new(), checkpoint: None };
    states(&app, thread, request).await
}

async fn states(app: &App, thread: ThreadId, request: HistoryRequest) -> ApiResult<Response> {
    let HistoryRequest { limit, before, metadata, checkpoint } = request;
    let before = before.as_deref().map(checkpoint_id).transpose()?;
    let (_, graph) = find(app, thread).await?;
    let Some(graph) = graph else { return Ok(reply::json(&json!([]))) };
    let name = thread.to_string();
    let checkpoint = checkpoint.unwrap_or_default();
    if !checkpoint.checkpoint_ns.is_empty() {
        let namespace = checkpoint.checkpoint_ns.as_str();
        let Some(view) = graph.state(&name, None).await? else { return Ok(reply::json(&json!([]))) };
        let calls = graph.calls(&name, Some(view.id)).await?;
        let Some(call) = find_call(&view, &calls, namespace) else { return Ok(reply::json(&json!([]))) };
        let found =
            graph.call_history(&name, &call.namespace, HistoryQuery { limit, before, metadata }).await?;
        let states: Vec<_> =
            found.iter().map(|call| ThreadState::of_call(thread, namespace, call, false)).collect();
        return Ok(reply::json(&states));
    }
    let mut states = Vec::new();
    let mut limit = limit;
    let mut before = before;
    if let Some(id) = checkpoint.checkpoint_id.as_deref().map(checkpoint_id).transpose()? {
        // The history of a checkpoint begins with it.
        let at = graph.state(&name, Some(id)).await?;
        states.extend(at.map(|view| ThreadState::of(thread, view, &[], Show::default())));
        limit -= states.len();
        before = Some(before.map_or(id, |before| before.min(id)));
    }
    if limit > 0 {
        let found = graph.history(&name, HistoryQuery { limit, before, metadata }).await?;
        states.extend(found.into_iter().map(|view| ThreadState::of(thread, view, &[], Show::default())));
    }
    Ok(reply::json(&states))
}

async fn update(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<StateUpdate>,
) -> ApiResult<Response> {
    // In a task of its own: a client that disconnects does not leave half an update.
    let updating = tokio::spawn(async move { updated(&app, thread, body).await });
    updating.await.map_err(|_| ApiError::internal("the update has panicked"))?
}

/// Merges metadata into those of the thread.
async fn patch(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<MetadataPatch>,
) -> ApiResult<Response> {
    let changed = app.records.change_thread(thread, |record| record.metadata.extend(body.metadata));
    changed.await?.map(|_| reply::no_content()).ok_or_else(|| no_thread(thread))
}

/// The checkpoint of an update.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "StateUpdated")]
pub(super) struct Updated {
    /// The new checkpoint.
    checkpoint: CheckpointConfig,
    /// The same, for the `config` of a run.
    configurable: CheckpointConfig,
    /// Its id.
    checkpoint_id: Option<String>,
}

async fn updated(app: &Arc<App>, thread: ThreadId, body: StateUpdate) -> ApiResult<Response> {
    let StateUpdate { values, as_node, checkpoint } = body;
    let checkpoint = checkpoint.unwrap_or_default();
    if !checkpoint.checkpoint_ns.is_empty() {
        return Err(ApiError::unprocessable(
            "`checkpoint.checkpoint_ns`: the state of a subgraph cannot be updated, only that of the graph itself",
        ));
    }
    let at = checkpoint.checkpoint_id.as_deref().map(checkpoint_id).transpose()?;
    let (record, graph) = find(app, thread).await?;
    let (graph_id, graph) = match (record.graph_id, graph) {
        (Some(id), Some(graph)) => (id, graph),
        _ => {
            // A thread that has not run yet belongs to no graph.
            let mut all = app.graphs.iter();
            match (all.next(), all.next()) {
                (Some((id, graph)), None) => (id.to_string(), Arc::clone(graph)),
                _ => {
                    return Err(ApiError::unprocessable(format!(
                        "thread `{thread}` belongs to no graph yet: run one of its assistants first"
                    )));
                }
            }
        }
    };
    let Some(_hold) = hold(app, thread) else {
        return Err(ApiError::conflict(format!(
            "thread `{thread}` is busy with a run: wait for its end, or cancel it"
        )));
    };
    let name = thread.to_string();
    let context = RunContext {
        thread_id: name.as_str().into(),
        context: record.context,
        identity: app.user_id(),
        ..RunContext::default()
    };
    let metadata = [("graph_id", json!(graph_id)), ("thread_id", json!(thread))];
    let update = UpdateSpec {
        supersteps: vec![vec![(values, as_node)]],
        at,
        context,
        metadata: metadata.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
    };
    let id = graph.update(&name, update).await?;
    let view = graph.state(&name, None).await?;
    let waits = view.as_ref().is_some_and(|view| view.interrupts().next().is_some());
    let changed = app.records.change_thread(thread, |record| {
        record.status = if waits { ThreadStatus::Interrupted } else { ThreadStatus::Idle };
        record.error = None;
        record.graph_id = Some(graph_id);
        record.state_updated_at = Timestamp::now();
    });
    changed.await?;
    if let Some(values) = view.and_then(|view| view.values) {
        app.thread_streams.push_classic(thread, || state_update(values.get()));
    }
    let checkpoint = config(thread, "", Some(id));
    let id = checkpoint.checkpoint_id.clone();
    Ok(reply::json(&Updated { configurable: checkpoint.clone(), checkpoint, checkpoint_id: id }))
}

/// Responds with the values of a thread after a run that has ended.
pub(super) async fn values(app: &App, record: &ThreadRecord, run: RunId) -> ApiResult<Response> {
    let (_, graph) = find(app, record.thread_id).await?;
    let view = match graph {
        Some(graph) => {
            let name = record.thread_id.to_string();
            let mut query = HistoryQuery { limit: 1, ..HistoryQuery::default() };
            query.metadata.insert("run_id".to_owned(), json!(run));
            match graph.history(&name, query).await?.pop() {
                Some(view) => Some(view),
                // The run has stored nothing, or its checkpoints were deleted.
                None => graph.state(&name, None).await?,
            }
        }
        None => None,
    };
    let Some(view) = view else { return Ok(reply::json(&json!({}))) };
    let interrupts: Vec<_> = view.interrupts().cloned().collect();
    Ok(match view.values {
        Some(values) if interrupts.is_empty() => reply::json(&values),
        Some(values) => {
            let interrupts = crate::stream::interrupts_json(&interrupts);
            reply::json_text(crate::stream::with_interrupts(&values, interrupts))
        }
        None => reply::json(&json!({})),
    })
}
