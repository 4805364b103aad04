//! Lists of tasks.

use axum::response::Response;
use serde_json::{Value, json};

use super::task::FoundTask;
use super::{Agent, refusal};
use crate::api_error::ApiError;
use crate::http::reply;
use crate::protocol::a2a::{ListParams, PageToken, TaskId};
use crate::protocol::{RpcError, Timestamp};
use crate::records::KEPT;

/// The number of places of tasks that are read for a page. A page whose filter leaves out most of them may be shorter than
/// its size.
const MAX_READ: usize = 1_000;

/// Responds with a page of the tasks of an agent. Those whose state has changed last come first.
pub(super) async fn list(agent: &Agent, params: ListParams) -> Result<Response, RpcError> {
    let token = match &params.token {
        Some(text) => Some(read(text, &identity(agent, &params))?),
        None => None,
    };
    let moment = match &token {
        Some(token) => token.moment,
        None => agent.app.records.moment().await,
    };
    let count = token.as_ref().map_or(0, |token| token.count);
    let (found, next) = find(agent, &params, moment, token.map(|token| token.last)).await?;
    let mut tasks: Vec<Value> = Vec::with_capacity(found.len());
    for task in found {
        let task = match params.artifacts {
            true => task.whole(agent, params.history).await?,
            false => task.outline(params.history),
        };
        tasks.push(task.to_json(agent.version));
    }
    let count = count.saturating_add(tasks.len());
    let next = next.map(|last| PageToken { moment, last, count }.write(&identity(agent, &params)));
    let result = json!({
        "tasks": tasks,
        "pageSize": params.page_size,
        // The tasks that are known: one more stands for the next pages.
        "totalSize": count.saturating_add(usize::from(next.is_some())),
        "nextPageToken": next.unwrap_or_default(),
    });
    Ok(reply::json(&agent.response(Ok(result))))
}

/// The last place that was read for a page: the time and the task.
type Last = (Timestamp, crate::protocol::RunId);

/// Returns the tasks of a page, and the last place of it if there are more.
async fn find(
    agent: &Agent,
    params: &ListParams,
    moment: Timestamp,
    mut last: Option<Last>,
) -> Result<(Vec<FoundTask>, Option<Last>), RpcError> {
    let failed = |error| refusal(ApiError::from(error));
    let (records, size) = (&agent.app.records, params.page_size);
    let assistant = agent.assistant.assistant_id;
    let mut scan = records.task_places(assistant, params.context, moment, last, size.saturating_add(1));
    let mut found = Vec::new();
    let mut read = 0;
    loop {
        let places = scan.next().await.map_err(failed)?;
        if places.is_empty() {
            return Ok((found, None));
        }
        for place in places {
            if params.since.is_some_and(|since| place.since < since) {
                return Ok((found, None));
            }
            if read == MAX_READ {
                return Ok((found, last));
            }
            read += 1;
            if place.holds_at(moment) {
                let task = records.task(place.thread_id, place.first).await.map_err(failed)?;
                let id = TaskId { thread: place.thread_id, run: place.first };
                let task = task.and_then(|task| FoundTask::of(agent, id, task)).filter(|task| {
                    params.state.is_none_or(|state| state == task.state)
                        && params.since.is_none_or(|since| task.changed_at() >= since)
                });
                if task.is_some() && found.len() == size {
                    return Ok((found, last));
                }
                found.extend(task);
            }
            last = Some((place.since, place.first));
        }
    }
}

fn read(text: &str, list: &str) -> Result<PageToken, RpcError> {
    let token = PageToken::read(text, list).ok_or_else(|| {
        RpcError::params("`pageToken`: expected the `nextPageToken` of another page of this list")
    })?;
    if token.moment.after(KEPT) <= Timestamp::now() {
        return Err(RpcError::params("`pageToken`: it has expired: read the list from its beginning"));
    }
    Ok(token)
}

/// Returns a text that only lists with the same parameters have.
fn identity(agent: &Agent, params: &ListParams) -> String {
    let (assistant, context) = (agent.assistant.assistant_id, params.context);
    format!("{assistant} {context:?} {:?} {:?}", params.state, params.since)
}
