//! `/assistants`.

use std::sync::Arc;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::protocol::{
    AssistantCreate, AssistantField, AssistantFilter, AssistantId, AssistantPatch, AssistantSearch, IfExists,
    Object, SetLatest, Timestamp, VersionSearch,
};
use crate::records::{AssistantRecord, Created, Latest};

use super::body::Body;
use super::path::AssistantPart;
use super::query::{Options, Query, ReadQuery};
use super::reply;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/assistants", post(create))
        .route("/assistants/search", post(search))
        .route("/assistants/count", post(count))
        .route("/assistants/{assistant}", get(show).patch(change).delete(delete))
        .route("/assistants/{assistant}/versions", post(versions))
        .route("/assistants/{assistant}/latest", post(set_latest))
}

async fn create(Shared(app): Shared, Body(body): Body<AssistantCreate>) -> ApiResult<Response> {
    let AssistantCreate { assistant_id, graph_id, if_exists, settings } = body;
    check_graph(&app, &graph_id)?;
    let now = Timestamp::now();
    let assistant = AssistantRecord {
        assistant_id: assistant_id.unwrap_or_else(AssistantId::new),
        graph_id,
        config: settings.config.unwrap_or_default(),
        context: settings.context.unwrap_or_default(),
        metadata: settings.metadata.unwrap_or_default(),
        name: settings.name.unwrap_or_else(|| "Untitled".to_owned()),
        created_at: now,
        updated_at: now,
        version: 1,
        description: settings.description,
        user_id: None,
    };
    let id = assistant.assistant_id;
    match app.records.create_assistant(assistant).await? {
        Created::New(assistant) => Ok(reply::json(&assistant)),
        Created::Existing(existing) if if_exists == IfExists::DoNothing => Ok(reply::json(&existing)),
        Created::Existing(_) | Created::Taken => {
            Err(ApiError::conflict(format!("Assistant with ID {id} already exists")))
        }
    }
}

async fn search(Shared(app): Shared, Body(body): Body<AssistantSearch>) -> ApiResult<Response> {
    let AssistantSearch { filter, limit, offset, sort_by, sort_order, select } = body;
    let found = app.records.assistants(&filter, (sort_by, sort_order), offset + limit + 1).await?;
    let page =
        found.iter().skip(offset).map(|assistant| selected(assistant, &select)).collect::<ApiResult<_>>()?;
    Ok(reply::page::<Object>(page, offset, limit))
}

async fn count(Shared(app): Shared, Body(filter): Body<AssistantFilter>) -> ApiResult<Response> {
    let order = (crate::protocol::AssistantSort::CreatedAt, crate::protocol::SortOrder::Descending);
    let found = app.records.assistants(&filter, order, usize::MAX).await?;
    Ok(reply::json(&found.len()))
}

async fn show(Shared(app): Shared, id: AssistantPart) -> ApiResult<Response> {
    Ok(reply::json(&find(&app, &id).await?))
}

async fn change(
    Shared(app): Shared,
    id: AssistantPart,
    Body(body): Body<AssistantPatch>,
) -> ApiResult<Response> {
    let AssistantPatch { graph_id, settings } = body;
    if let Some(graph) = &graph_id {
        check_graph(&app, graph)?;
    }
    let id = find_own(&app, &id).await?;
    let changed = app.records.change_assistant(id, |assistant| {
        assistant.graph_id = graph_id.unwrap_or_else(|| std::mem::take(&mut assistant.graph_id));
        if let Some(config) = settings.config {
            assistant.config = config;
        }
        if let Some(context) = settings.context {
            assistant.context = context;
        }
        assistant.metadata.extend(settings.metadata.unwrap_or_default());
        if let Some(name) = settings.name {
            assistant.name = name;
        }
        if settings.description.is_some() {
            assistant.description = settings.description;
        }
    });
    changed.await?.map(|assistant| reply::json(&assistant)).ok_or_else(|| unknown(id))
}

/// The options of a deletion.
#[derive(JsonSchema)]
pub(super) struct DeleteQuery {
    /// `true` to delete the threads whose last run had the assistant.
    pub(super) delete_threads: bool,
}

impl ReadQuery for DeleteQuery {
    fn read(query: &mut Query) -> Self {
        Self { delete_threads: query.flag("delete_threads") }
    }
}

async fn delete(
    Shared(app): Shared,
    id: AssistantPart,
    Options(options): Options<DeleteQuery>,
) -> ApiResult<Response> {
    let id = find_own(&app, &id).await?;
    if !app.records.delete_assistant(id).await? {
        return Err(unknown(id));
    }
    if options.delete_threads {
        super::threads::delete_of_assistant(&app, id).await?;
    }
    Ok(reply::no_content())
}

async fn versions(
    Shared(app): Shared,
    id: AssistantPart,
    Body(body): Body<VersionSearch>,
) -> ApiResult<Response> {
    let VersionSearch { metadata, limit, offset } = body;
    let id = find(&app, &id).await?.assistant_id;
    Ok(reply::json(&app.records.versions(id, &metadata, offset, limit).await?))
}

async fn set_latest(
    Shared(app): Shared,
    id: AssistantPart,
    Body(body): Body<SetLatest>,
) -> ApiResult<Response> {
    let id = find_own(&app, &id).await?;
    match app.records.set_latest(id, body.version).await? {
        Latest::Set(assistant) => Ok(reply::json(&assistant)),
        Latest::NoAssistant => Err(unknown(id)),
        Latest::NoVersion => {
            Err(ApiError::not_found(format!("Version {} not found for assistant {id}", body.version)))
        }
    }
}

/// Finds the assistant of a path.
pub(super) async fn find(app: &App, part: &AssistantPart) -> ApiResult<AssistantRecord> {
    let id = part.id(&app.graphs)?;
    app.records.assistant(id).await?.ok_or_else(|| unknown(id))
}

/// Finds the assistant of a path, which the caller is going to change.
async fn find_own(app: &App, part: &AssistantPart) -> ApiResult<AssistantId> {
    let assistant = find(app, part).await?;
    if app.records.may_change(&assistant) {
        return Ok(assistant.assistant_id);
    }
    Err(ApiError::new(
        StatusCode::FORBIDDEN,
        format!("assistant `{}` is shared by all callers: create one of your own", assistant.assistant_id),
    ))
}

fn unknown(id: AssistantId) -> ApiError {
    ApiError::not_found(format!("Assistant with ID {id} not found"))
}

fn check_graph(app: &App, id: &str) -> ApiResult<()> {
    match app.graphs.find(id) {
        Some(_) => Ok(()),
        None => Err(ApiError::not_found(format!(
            "Graph '{id}' not found. Expected one of: {}",
            app.graphs.names()
        ))),
    }
}

/// Returns the JSON of an assistant with some of its fields.
fn selected(assistant: &AssistantRecord, select: &[AssistantField]) -> ApiResult<Object> {
    let mut object = object(assistant)?;
    if !select.is_empty() {
        object.retain(|name, _| select.iter().any(|field| field.name() == name));
    }
    Ok(object)
}

/// Returns a record as a JSON object.
fn object<T: Serialize>(record: &T) -> ApiResult<Object> {
    match serde_json::to_value(record) {
        Ok(Value::Object(object)) => Ok(object),
        _ => Err(ApiError::internal("a record cannot be written as JSON")),
    }
}
