//! `/threads`: create, read, change, delete, copy and prune.

use std::sync::Arc;

use axum::Router;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::graphs::{AnyGraph, RunContext, UpdateSpec};
use crate::protocol::{
    AssistantId, IfExists, SortOrder, Superstep, ThreadCreate, ThreadFilter, ThreadId, ThreadPatch,
    ThreadPrune, ThreadSort, Timestamp,
};
use crate::records::{Created, ThreadRecord};
use crate::{thread_life, thread_status};

use super::body::Body;
use super::path::ThreadPart;
use super::query::{Options, Query, ReadQuery};
use super::thread_json::{TtlJson, with_state};
use super::{reply, thread_search};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/threads", post(create))
        .route("/threads/prune", post(prune))
        .route("/threads/{thread}", get(show).patch(change).delete(delete))
        .route("/threads/{thread}/copy", post(copy))
        .merge(thread_search::routes())
}

async fn create(Shared(app): Shared, Body(body): Body<ThreadCreate>) -> ApiResult<Response> {
    let ThreadCreate { thread_id, metadata, if_exists, ttl, supersteps } = body;
    let mut thread = ThreadRecord::new(thread_id.unwrap_or_else(ThreadId::new), metadata, ttl);
    let graph = if supersteps.is_empty() { None } else { Some(graph_of(&app, &mut thread)?) };
    let id = thread.thread_id;
    thread = match app.records.create_thread(thread).await? {
        Created::New(thread) => thread,
        Created::Existing(existing) if if_exists == IfExists::DoNothing => {
            return Ok(reply::json(&with_state(&app, &existing).await?));
        }
        Created::Existing(_) | Created::Taken => {
            return Err(ApiError::conflict(format!("Thread with ID {id} already exists")));
        }
    };
    if let Some(graph) = graph {
        // In a task of its own: a client that disconnects does not leave half a thread.
        let updated = tokio::spawn(apply(Arc::clone(&app), id, graph, supersteps));
        thread =
            updated.await.map_err(|_| ApiError::internal("the updates of the thread have panicked"))??;
    }
    Ok(reply::json(&with_state(&app, &thread).await?))
}

/// Returns the graph that `metadata.graph_id` of a new thread names.
fn graph_of(app: &App, thread: &mut ThreadRecord) -> ApiResult<Arc<dyn AnyGraph>> {
    let Some(id) = thread.metadata.get("graph_id").and_then(|id| id.as_str()) else {
        return Err(ApiError::unprocessable(
            "`supersteps`: the updates need the graph of the thread in `metadata.graph_id`",
        ));
    };
    let Some(graph) = app.graphs.find(id) else {
        let names = app.graphs.names();
        return Err(ApiError::unprocessable(format!(
            "`metadata.graph_id`: Graph '{id}' not found. Expected one of: {names}"
        )));
    };
    thread.graph_id = Some(id.to_owned());
    Ok(Arc::clone(graph))
}

/// Makes the first state of a thread. If an update is refused, the thread is deleted.
async fn apply(
    app: Arc<App>,
    id: ThreadId,
    graph: Arc<dyn AnyGraph>,
    supersteps: Vec<Superstep>,
) -> ApiResult<ThreadRecord> {
    let updates =
        |step: Superstep| step.updates.into_iter().map(|update| (update.values, update.as_node)).collect();
    let name = id.to_string();
    let context =
        RunContext { thread_id: name.as_str().into(), identity: app.user_id(), ..RunContext::default() };
    let update = UpdateSpec {
        supersteps: supersteps.into_iter().map(updates).collect(),
        context,
        ..UpdateSpec::default()
    };
    if let Err(error) = graph.update(&name, update).await {
        thread_life::delete(&app, id).await?;
        return Err(error);
    }
    let state = graph.state(&name, None).await?;
    let changed = app.records.change_thread(id, |thread| {
        thread.status = thread_status::of_state(state.as_ref());
        thread.state_updated_at = Timestamp::now();
    });
    changed.await?.ok_or_else(|| unknown(id))
}

/// The options of a thread.
#[derive(JsonSchema)]
pub(super) struct ThreadQuery {
    /// The further fields to return: `ttl`.
    pub(super) include: Vec<String>,
}

impl ReadQuery for ThreadQuery {
    fn read(query: &mut Query) -> Self {
        Self { include: query.list("include") }
    }
}

async fn show(
    Shared(app): Shared,
    ThreadPart(id): ThreadPart,
    Options(options): Options<ThreadQuery>,
) -> ApiResult<Response> {
    let thread = find(&app, id).await?;
    let mut json = with_state(&app, &thread).await?;
    if options.include.iter().any(|name| name == "ttl") {
        let ttl = thread.ttl.map(|ttl| TtlJson {
            strategy: ttl.strategy,
            ttl_minutes: ttl.ttl,
            created_at: thread.updated_at,
            expires_at: thread.expires_at,
        });
        json.insert("ttl".to_owned(), json!(ttl));
    }
    Ok(reply::json(&json))
}

async fn change(
    Shared(app): Shared,
    ThreadPart(id): ThreadPart,
    headers: HeaderMap,
    Body(body): Body<ThreadPatch>,
) -> ApiResult<Response> {
    let ThreadPatch { metadata, ttl } = body;
    let changed = app.records.change_thread(id, |thread| {
        thread.metadata.extend(metadata);
        thread.ttl = ttl.or(thread.ttl);
    });
    let thread = changed.await?.ok_or_else(|| unknown(id))?;
    let preference = headers.get("prefer").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if preference.split([',', ';']).any(|part| part.trim().eq_ignore_ascii_case("return=minimal")) {
        return Ok(reply::no_content());
    }
    Ok(reply::json(&with_state(&app, &thread).await?))
}

async fn delete(Shared(app): Shared, ThreadPart(id): ThreadPart) -> ApiResult<Response> {
    match thread_life::delete_detached(&app, id).await? {
        true => Ok(reply::no_content()),
        false => Err(unknown(id)),
    }
}

async fn copy(Shared(app): Shared, ThreadPart(id): ThreadPart) -> ApiResult<Response> {
    let copy = thread_life::copy(&app, id).await?.ok_or_else(|| unknown(id))?;
    Ok(reply::json(&with_state(&app, &copy).await?))
}

/// The number of threads that were pruned.
#[derive(Serialize, JsonSchema)]
pub(super) struct Pruned {
    pruned_count: usize,
}

async fn prune(Shared(app): Shared, Body(body): Body<ThreadPrune>) -> ApiResult<Response> {
    let mut pruned = 0_usize;
    for id in body.thread_ids {
        let found = match body.strategy {
            crate::protocol::TtlStrategy::Delete => thread_life::delete_detached(&app, id).await?,
            crate::protocol::TtlStrategy::KeepLatest => thread_life::keep_latest(&app, id).await?,
        };
        pruned += usize::from(found);
    }
    Ok(reply::json(&Pruned { pruned_count: pruned }))
}

/// Deletes the threads whose last run had an assistant.
pub(super) async fn delete_of_assistant(app: &Arc<App>, assistant: AssistantId) -> ApiResult<()> {
    let metadata = [("assistant_id".to_owned(), assistant.to_string().into())].into_iter().collect();
    let filter = ThreadFilter { metadata, ..ThreadFilter::default() };
    let order = (ThreadSort::ThreadId, SortOrder::Descending);
    let mut threads = app.records.threads(&filter, order, usize::MAX).await?;
    for thread in threads.next().await? {
        thread_life::delete_detached(app, thread.thread_id).await?;
    }
    Ok(())
}

/// Finds a thread.
pub(crate) async fn find(app: &App, id: ThreadId) -> ApiResult<ThreadRecord> {
    app.records.thread(id).await?.ok_or_else(|| unknown(id))
}

/// The error for a thread that does not exist.
pub(crate) fn unknown(id: ThreadId) -> ApiError {
    ApiError::not_found(format!("Thread with ID {id} not found"))
}
