use std::sync::Arc;

use super::execute::work_on;
use crate::app::App;
use crate::protocol::ThreadId;

/// Finds a worker for a thread whose next run is ready.
///
/// A dispatcher only wakes workers. The queue says which run is next, so a thread that is dispatched twice is harmless.
pub(super) trait Dispatcher: Send + Sync {
    /// Has the runs of a thread executed, one after the other.
    fn dispatch(&self, app: &Arc<App>, thread: ThreadId);
}

/// Executes runs in this process.
pub(super) struct InProcess;

impl Dispatcher for InProcess {
    fn dispatch(&self, app: &Arc<App>, thread: ThreadId) {
        app.runs.spawn(work_on(Arc::clone(app), thread));
    }
}
