//! `/runs/crons`: runs that start at the times of a schedule.

use std::sync::Arc;

use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::body::Body;
use super::path::ThreadPart;
use super::reply;
use crate::api_error::{ApiError, ApiResult};
use crate::app::{App, Shared};
use crate::crons::{Schedule, next_run};
use crate::protocol::{
    Cron, CronCreate, CronField, CronFilter, CronId, CronPatch, CronSearch, CronSort, Object, RunRequest,
    SortOrder, ThreadId, Timestamp, read_body,
};
use crate::records::CronRecord;
use crate::runs::{RunThread, check, find_assistant, hide, no_thread};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/runs/crons", post(create))
        .route("/runs/crons/search", post(search))
        .route("/runs/crons/count", post(count))
        .route("/runs/crons/{cron}", get(show).patch(change).delete(delete))
        .route("/threads/{thread}/runs/crons", post(create_on_thread))
}

async fn create(Shared(app): Shared, Body(body): Body<CronCreate>) -> ApiResult<Response> {
    created(&app, None, body).await
}

async fn create_on_thread(
    Shared(app): Shared,
    ThreadPart(thread): ThreadPart,
    Body(body): Body<CronCreate>,
) -> ApiResult<Response> {
    if app.records.thread(thread).await?.is_none() {
        return Err(no_thread(thread));
    }
    created(&app, Some(thread), body).await
}

/// Stores a cron whose runs could be accepted now.
async fn created(app: &Arc<App>, thread_id: Option<ThreadId>, body: CronCreate) -> ApiResult<Response> {
    let CronCreate { schedule, timezone, end_time, enabled, on_run_completed, request, payload } = body;
    let assistant = find_assistant(app, &request.assistant).await?;
    check_request(app, thread_id, &request).await?;
    let now = Timestamp::now();
    let cron = Cron {
        cron_id: CronId::new(),
        assistant_id: assistant.assistant_id,
        thread_id,
        schedule,
        timezone,
        end_time,
        next_run_date: None,
        enabled,
        metadata: request.metadata,
        payload,
        on_run_completed: on_run_completed.filter(|_| thread_id.is_none()),
        user_id: app.user_id(),
        created_at: now,
        updated_at: now,
    };
    let sees_all = app.caller.as_ref().is_some_and(|caller| caller.is_operator());
    let record = scheduled(CronRecord { cron, sees_all }, now)?;
    app.records.store_cron(None, &record).await?;
    app.scheduler.wake();
    Ok(reply::json(&shown(app, record.cron).await?))
}

async fn check_request(app: &App, thread: Option<ThreadId>, request: &RunRequest) -> ApiResult<()> {
    if request.after_seconds.is_some() {
        return Err(ApiError::unprocessable(
            "`after_seconds`: a run of a cron starts at the time of its schedule",
        ));
    }
    check(app, thread.map_or(RunThread::New, RunThread::Given), request.clone()).await
}

/// Returns a cron with the time of its next run.
///
/// # Errors
/// The schedule is not valid, or has no time.
fn scheduled(mut record: CronRecord, now: Timestamp) -> ApiResult<CronRecord> {
    let cron = &record.cron;
    let schedule = Schedule::new(&cron.schedule, cron.timezone.as_deref())
        .map_err(|error| ApiError::unprocessable(error.to_string()))?;
    if schedule.after(now).is_none() {
        return Err(ApiError::unprocessable(format!("`schedule`: `{}` is never due", cron.schedule)));
    }
    record.cron.next_run_date = next_run(&record, now);
    Ok(record)
}

async fn search(Shared(app): Shared, Body(body): Body<CronSearch>) -> ApiResult<Response> {
    let CronSearch { filter, limit, offset, sort_by, sort_order, select } = body;
    let found = app.records.crons(&filter, (sort_by, sort_order)).await?;
    let mut page = Vec::new();
    for record in found.into_iter().skip(offset).take(limit + 1) {
        page.push(selected(shown(&app, record.cron).await?, &select));
    }
    Ok(reply::page(page, offset, limit))
}

async fn count(Shared(app): Shared, Body(filter): Body<CronFilter>) -> ApiResult<Response> {
    let order = (CronSort::CronId, SortOrder::Ascending);
    Ok(reply::json(&app.records.crons(&filter, order).await?.len()))
}

/// Returns a cron as clients see it: without the fields of its input that are never shown.
async fn shown(app: &App, mut cron: Cron) -> ApiResult<Cron> {
    let assistant = app.records.assistant(cron.assistant_id).await?;
    let graph = assistant.and_then(|assistant| app.graphs.find(&assistant.graph_id));
    hide(&mut cron.payload, graph.map(|graph| &**graph));
    Ok(cron)
}

/// Returns the JSON of a cron with some of its fields.
fn selected(cron: Cron, select: &[CronField]) -> Value {
    let Value::Object(mut fields) = json!(cron) else { return Value::Null };
    if !select.is_empty() {
        fields.retain(|name, _| select.iter().any(|field| field.name() == name));
    }
    Value::Object(fields)
}

fn cron_id(text: &str) -> ApiResult<CronId> {
    CronId::parse(text).ok_or_else(|| ApiError::unprocessable("Invalid cron ID: must be a UUID"))
}

fn unknown(id: CronId) -> ApiError {
    ApiError::not_found(format!("Cron with ID {id} not found"))
}

async fn show(Shared(app): Shared, Path(id): Path<String>) -> ApiResult<Response> {
    let id = cron_id(&id)?;
    let found = app.records.cron(id).await?.ok_or_else(|| unknown(id))?;
    Ok(reply::json(&shown(&app, found.cron).await?))
}

async fn delete(Shared(app): Shared, Path(id): Path<String>) -> ApiResult<Response> {
    let id = cron_id(&id)?;
    match app.records.delete_cron(id).await? {
        true => Ok(reply::no_content()),
        false => Err(unknown(id)),
    }
}

async fn change(
    Shared(app): Shared,
    Path(id): Path<String>,
    Body(body): Body<CronPatch>,
) -> ApiResult<Response> {
    let id = cron_id(&id)?;
    let _lock = app.records.lock_cron(id).await;
    let old = app.records.cron(id).await?.ok_or_else(|| unknown(id))?;
    let new = changed(&old, body);
    let request = request_of(&new.cron)?;
    check_request(&app, new.cron.thread_id, &request).await?;
    let new = scheduled(new, Timestamp::now())?;
    app.records.store_cron(Some(&old), &new).await?;
    app.scheduler.wake();
    Ok(reply::json(&shown(&app, new.cron).await?))
}

fn changed(old: &CronRecord, patch: CronPatch) -> CronRecord {
    let CronPatch { schedule, timezone, end_time, enabled, on_run_completed, metadata, payload } = patch;
    let mut new = old.clone();
    let cron = &mut new.cron;
    if let Some(schedule) = schedule {
        cron.schedule = schedule;
    }
    cron.timezone = timezone.or(cron.timezone.take());
    cron.end_time = end_time.unwrap_or(cron.end_time);
    cron.enabled = enabled.unwrap_or(cron.enabled);
    cron.on_run_completed = on_run_completed.filter(|_| cron.thread_id.is_none()).or(cron.on_run_completed);
    cron.metadata.extend(metadata);
    cron.payload.extend(payload);
    cron.updated_at = Timestamp::now().max(cron.updated_at);
    new
}

/// Returns the request for the runs of a cron.
fn request_of(cron: &Cron) -> ApiResult<RunRequest> {
    let mut body: Object = cron.payload.clone();
    body.insert("assistant_id".to_owned(), cron.assistant_id.to_string().into());
    read_body(Value::Object(body)).map_err(|problems| ApiError::unprocessable(problems.to_string()))
}
