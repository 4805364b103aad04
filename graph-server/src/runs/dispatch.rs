//! Finds a worker for a thread whose next run is ready.
//!
//! A dispatch only wakes a worker. The queue says which run is next, so a thread that is dispatched twice is harmless.

use std::sync::{Arc, Weak};
use std::time::Duration;

use super::execute::work_on;
use super::job::Job;
use crate::app::App;
use crate::protocol::{RunId, ThreadId};

/// Has the runs of a thread executed in this process, one after the other.
fn dispatch(app: &Arc<App>, thread: ThreadId) {
    app.runs.spawn(work_on(Arc::clone(app.as_server()), thread));
}

/// Completes the place of a run. A run with a delay takes its turn after it.
pub(super) fn fill(app: &Arc<App>, thread: ThreadId, job: Box<Job>, delay: Option<Duration>) {
    if let Some(delay) = delay {
        let (app, run) = (Arc::downgrade(app.as_server()), job.live.run_id);
        // Not one of the tasks that a stopping server waits for: the next server waits for the rest of the time.
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            if let Some(app) = Weak::upgrade(&app) {
                due(&app, thread, run);
            }
        });
    }
    if app.runs.fill(thread, job) {
        dispatch(app, thread);
    }
}

fn due(app: &Arc<App>, thread: ThreadId, run: RunId) {
    if app.runs.due(thread, run) {
        dispatch(app, thread);
    }
}

/// Gives up the place of a run that was not stored.
pub(super) fn give_up(app: &Arc<App>, thread: ThreadId, run: RunId) {
    if app.runs.give_up(thread, run) {
        dispatch(app, thread);
    }
}

/// Holds an idle thread, so that no run starts on it. Returns `None` if the thread is busy.
pub(crate) fn hold(app: &Arc<App>, thread: ThreadId) -> Option<Hold> {
    app.runs.hold(thread).then(|| Hold { app: Arc::clone(app.as_server()), thread })
}

/// An idle thread on which no run starts until this is dropped.
pub(crate) struct Hold {
    app: Arc<App>,
    thread: ThreadId,
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.app.runs.release(self.thread) {
            dispatch(&self.app, self.thread);
        }
    }
}
