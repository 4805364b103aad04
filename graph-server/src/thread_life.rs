//! Changes of a thread as a whole: of its record, its runs and its checkpoints together.

use std::sync::Arc;
use std::time::Duration;

use superstep::checkpoint::{CheckpointError, Prune};

use crate::api_error::{ApiError, ApiResult};
use crate::app::App;
use crate::protocol::{ThreadId, ThreadStatus};
use crate::records::{Created, ThreadRecord};
use crate::runs::{hold, stop_all};
use crate::thread_status;

/// Deletes a thread. Returns `false` if it does not exist.
///
/// The checkpoints go first: a thread whose deletion was cut off is still listed, and can be deleted again.
pub(crate) async fn delete(app: &App, id: ThreadId) -> ApiResult<bool> {
    if app.records.thread(id).await?.is_none() {
        return Ok(false);
    }
    app.thread_streams.forget(id);
    app.checkpointer.delete(&id.to_string(), None).await?;
    Ok(app.records.delete_thread(id).await?)
}

/// Deletes a thread in a task of its own, so that a client that disconnects does not leave half of it.
pub(crate) async fn delete_detached(app: &Arc<App>, id: ThreadId) -> ApiResult<bool> {
    if app.records.thread(id).await?.is_none() {
        return Ok(false);
    }
    let app = Arc::clone(app);
    let deleted = tokio::spawn(async move {
        // No run starts while the thread is held. One that came in between is stopped as well.
        let _hold = loop {
            stop_all(&app, id).await?;
            if let Some(held) = hold(&app, id) {
                break held;
            }
            // Something else changes the thread, or its last run leaves it now.
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        delete(&app, id).await
    });
    deleted.await.map_err(|_| ApiError::internal("the deletion of the thread has panicked"))?
}

/// Deletes all checkpoints of a thread but the latest. Returns `false` if it does not exist, or if a run is active on it or
/// waits for its turn: a run may be rolled back to the checkpoints before it.
pub(crate) async fn keep_latest(app: &Arc<App>, id: ThreadId) -> ApiResult<bool> {
    if app.records.thread(id).await?.is_none() {
        return Ok(false);
    }
    let Some(_hold) = hold(app, id) else { return Ok(false) };
    app.checkpointer.prune(Prune::new().thread(id.to_string()).keep_last(1)).await?;
    Ok(true)
}

/// Copies a thread with all its checkpoints, but without its runs. Returns `None` if it does not exist.
///
/// The record comes last: a copy that was cut off is not listed.
pub(crate) async fn copy(app: &App, id: ThreadId) -> ApiResult<Option<ThreadRecord>> {
    let Some(thread) = app.records.thread(id).await? else { return Ok(None) };
    let fresh = ThreadRecord::new(ThreadId::new(), thread.metadata.clone(), thread.ttl);
    match app.checkpointer.copy(&id.to_string(), &fresh.thread_id.to_string(), None).await {
        Ok(()) | Err(CheckpointError::NoThread { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let mut copy = ThreadRecord {
        config: thread.config,
        context: thread.context,
        status: thread.status,
        error: thread.error,
        graph_id: thread.graph_id,
        assistant_id: thread.assistant_id,
        user_id: thread.user_id,
        ..fresh
    };
    // No run of the copy is active.
    if copy.status == ThreadStatus::Busy {
        let graph = copy.graph_id.as_ref().and_then(|graph| app.graphs.find(graph));
        let state = match graph {
            Some(graph) => graph.state(&copy.thread_id.to_string(), None).await?,
            None => None,
        };
        copy.status = thread_status::of_state(state.as_ref());
    }
    match app.records.create_thread(copy).await? {
        Created::New(copy) => Ok(Some(copy)),
        // The id is new.
        Created::Existing(_) | Created::Taken => Err(ApiError::internal("the id of the copy is taken")),
    }
}
