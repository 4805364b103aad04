use std::sync::Arc;

use tokio::runtime::Handle;

use super::{LiveRun, cancel};
use crate::app::App;
use crate::protocol::CancelAction;

/// A client that waits for a run. If the client goes away first, the run is cancelled if the client has asked for that.
pub(crate) struct Attachment {
    app: Arc<App>,
    live: Arc<LiveRun>,
    cancels: bool,
}

impl Attachment {
    pub(crate) fn new(app: &Arc<App>, live: &Arc<LiveRun>, cancels: bool) -> Self {
        Self { app: Arc::clone(app), live: Arc::clone(live), cancels }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        if !self.cancels || self.live.outcome().is_some() {
            return;
        }
        // Outside of a runtime, the server itself is being dropped.
        if Handle::try_current().is_ok() {
            let (app, live) = (Arc::clone(&self.app), Arc::clone(&self.live));
            self.app.runs.spawn(async move {
                let _ = cancel(&app, &live, CancelAction::Interrupt, None).await;
            });
        }
    }
}
