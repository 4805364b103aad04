//! The events of a thread's stream that are those of no run.

use serde_json::json;

use crate::events::LoggedEvent;
use crate::protocol::RunId;

/// The name of the event of a state that has changed.
pub(crate) const STATE_UPDATE: &str = "state_update";

/// Returns the event of a run that has ended.
pub(crate) fn run_done(run: RunId) -> LoggedEvent {
    let data = json!({ "status": "run_done", "run_id": run }).to_string();
    LoggedEvent::new(None, "metadata", data)
}

/// Returns the event of a state that has changed. The values are JSON.
pub(crate) fn state_update(values: &str) -> LoggedEvent {
    LoggedEvent::new(None, STATE_UPDATE, values.to_owned())
}
