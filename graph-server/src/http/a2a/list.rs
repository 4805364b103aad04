//! Lists of tasks.

use axum::response::Response;
use serde_json::{Value, json};

use super::task::{FoundTask, tasks_of};
use super::{Agent, refusal};
use crate::api_error::ApiError;
use crate::http::reply;
use crate::protocol::a2a::ListParams;
use crate::protocol::{RpcError, SortOrder, ThreadFilter, ThreadSort};
use crate::records::ThreadRecord;

/// The number of threads that are looked at, those of the last changes first, and the number of runs of each.
const MAX_THREADS: usize = 1_000;
const MAX_RUNS: usize = 1_000;

/// Responds with a page of the tasks of an agent. Those whose state has changed last come first.
pub(super) async fn list(agent: &Agent, params: ListParams) -> Result<Response, RpcError> {
    let mut found: Vec<FoundTask> = Vec::new();
    for thread in threads(agent, &params).await? {
        let runs = agent.app.records.runs(thread.thread_id, None, 0, MAX_RUNS).await;
        let tasks = tasks_of(agent, &thread, runs.map_err(|error| refusal(ApiError::from(error)))?);
        found.extend(tasks.into_iter().filter(|task| {
            params.state.is_none_or(|state| state == task.state)
                && params.since.is_none_or(|since| task.changed_at() >= since)
        }));
    }
    found.sort_by_key(|task| std::cmp::Reverse((task.changed_at(), task.id.run)));
    let total = found.len();
    let page: Vec<_> = found.into_iter().skip(params.offset).take(params.page_size).collect();
    let end = params.offset + page.len();
    let mut tasks: Vec<Value> = Vec::with_capacity(page.len());
    for task in page {
        let task = match params.artifacts {
            true => task.whole(agent, params.history).await?,
            false => task.outline(params.history),
        };
        tasks.push(task.to_json(agent.version));
    }
    let result = json!({
        "tasks": tasks,
        "nextPageToken": if end < total { end.to_string() } else { String::new() },
        "pageSize": params.page_size,
        "totalSize": total,
    });
    Ok(reply::json(&agent.response(Ok(result))))
}

async fn threads(agent: &Agent, params: &ListParams) -> Result<Vec<ThreadRecord>, RpcError> {
    let failed = |error| refusal(ApiError::from(error));
    let records = &agent.app.records;
    if let Some(context) = params.context {
        return Ok(Vec::from_iter(records.thread(context).await.map_err(failed)?));
    }
    let mut filter = ThreadFilter::default();
    filter.metadata.insert("assistant_id".to_owned(), json!(agent.assistant.assistant_id));
    let order = (ThreadSort::UpdatedAt, SortOrder::Descending);
    let mut scan = records.threads(&filter, order, MAX_THREADS).await.map_err(failed)?;
    let mut threads = Vec::new();
    while threads.len() < MAX_THREADS {
        let batch = scan.next().await.map_err(failed)?;
        if batch.is_empty() {
            break;
        }
        threads.extend(batch);
    }
    threads.truncate(MAX_THREADS);
    Ok(threads)
}
