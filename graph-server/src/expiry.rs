//! Ends the time to live of threads.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::api_error::ApiResult;
use crate::app::App;
use crate::protocol::{ThreadStatus, Timestamp, TtlStrategy};
use crate::records::ThreadRecord;
use crate::thread_life;

/// The time between two passes.
const PERIOD: Duration = Duration::from_secs(30);

/// The number of threads of one pass. The rest follows in the next one.
const BATCH: usize = if cfg!(test) { 3 } else { 1_000 };

/// Starts the task that deletes expired threads. It ends with the server.
pub(crate) fn start(app: &Arc<App>) {
    let app = Arc::downgrade(app);
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(PERIOD).await;
            let Some(app) = Weak::upgrade(&app) else { return };
            // A store that fails now is asked again in the next pass.
            let _failed = pass(&app, Timestamp::now()).await;
        }
    });
}

/// Ends the time to live of the threads that have expired. A thread for which this fails keeps no other.
///
/// # Errors
/// The store fails.
async fn pass(app: &Arc<App>, now: Timestamp) -> ApiResult<()> {
    let mut result = Ok(());
    // A run restarts the time when it ends. A run that waits for its time keeps the thread as well.
    let is_kept = |thread: &ThreadRecord| {
        thread.status == ThreadStatus::Busy || !app.runs.unfinished(thread.thread_id).is_empty()
    };
    for thread in app.records.expired_threads(now, BATCH, is_kept).await? {
        result = result.and(end(app, &thread).await);
    }
    result
}

async fn end(app: &Arc<App>, thread: &ThreadRecord) -> ApiResult<()> {
    match thread.ttl.map(|ttl| ttl.strategy) {
        Some(TtlStrategy::KeepLatest) => {
            if thread_life::keep_latest(app, thread.thread_id).await? {
                app.records.end_ttl(thread.thread_id).await?;
            }
        }
        _ => drop(thread_life::delete_detached(app, thread.thread_id).await?),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
