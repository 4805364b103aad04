//! `/threads/search` and `/threads/count`.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use axum::routing::post;
use serde_json::Value;

use crate::api_error::ApiResult;
use crate::app::{App, Shared};
use crate::protocol::{Object, SortOrder, ThreadField, ThreadFilter, ThreadSearch, ThreadSort};
use crate::records::{ThreadRecord, contains};

use super::body::Body;
use super::reply;
use super::thread_json::{all_with_states, thread_json};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/threads/search", post(search)).route("/threads/count", post(count))
}

async fn search(Shared(app): Shared, Body(body): Body<ThreadSearch>) -> ApiResult<Response> {
    let needed = body.offset + body.limit + 1;
    let mut found = find(&app, &body.filter, (body.sort_by, body.sort_order), needed).await?;
    let more = found.len() > body.offset + body.limit;
    found.truncate(body.offset + body.limit);
    let found = found.split_off(body.offset.min(found.len()));
    let read = |field: &ThreadField| {
        matches!(field, ThreadField::Values | ThreadField::Interrupts | ThreadField::Error)
    };
    let extracts = |name| body.extract.iter().any(|(_, path)| path.begins_with(name));
    let with_states = body.select.is_empty()
        || body.select.iter().any(read)
        || extracts("values")
        || extracts("interrupts");
    let mut threads = if with_states {
        all_with_states(&app, &found).await?
    } else {
        found.iter().map(|thread| thread_json(thread, Ok(None))).collect::<ApiResult<_>>()?
    };
    for thread in &mut threads {
        let extracted: Object =
            body.extract.iter().map(|(alias, path)| (alias.clone(), path.find(thread))).collect();
        if !body.select.is_empty() {
            thread.retain(|name, _| body.select.iter().any(|field| field.name() == name));
        }
        if !body.extract.is_empty() {
            thread.insert("extracted".to_owned(), extracted.into());
        }
    }
    // One item more stands for the rest of the list.
    threads.extend(more.then(Object::new));
    Ok(reply::page(threads, body.offset, body.limit))
}

async fn count(Shared(app): Shared, Body(filter): Body<ThreadFilter>) -> ApiResult<Response> {
    let order = (ThreadSort::ThreadId, SortOrder::Ascending);
    Ok(reply::json(&find(&app, &filter, order, usize::MAX).await?.len()))
}

/// Returns the first `needed` threads that match a filter. A filter by values reads the states of the other candidates.
async fn find(
    app: &App,
    filter: &ThreadFilter,
    order: (ThreadSort, SortOrder),
    needed: usize,
) -> ApiResult<Vec<ThreadRecord>> {
    let mut scan = app.records.threads(filter, order, needed).await?;
    let values = Value::Object(filter.values.clone());
    let mut found = Vec::new();
    while found.len() < needed {
        let batch = scan.next().await?;
        if batch.is_empty() {
            break;
        }
        if filter.values.is_empty() {
            found.extend(batch);
            continue;
        }
        let states = all_with_states(app, &batch).await?;
        let matching = batch
            .into_iter()
            .zip(states)
            .filter(|(_, thread)| thread.get("values").is_some_and(|found| contains(found, &values)));
        found.extend(matching.map(|(thread, _)| thread));
    }
    found.truncate(needed);
    Ok(found)
}
