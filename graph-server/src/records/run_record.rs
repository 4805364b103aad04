use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::graphs::Way;
use crate::protocol::{CancelAction, Run, RunError, RunId, Timestamp};

/// The key of a request under which the message is kept that has begun the run for a task.
pub(crate) const MESSAGE_KEY: &str = "a2a";

/// A run, as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    /// The run, as clients see it. `kwargs` is the request, from which the run is started again after a restart.
    #[serde(flatten)]
    pub(crate) run: Run,
    /// The graph.
    pub(crate) graph_id: String,
    /// The time before which the run does not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) due_at: Option<Timestamp>,
    /// The process that executes the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) owner: Option<String>,
    /// The number of times that a process has taken the run.
    #[serde(default)]
    pub(crate) epoch: u64,
    /// The request to cancel the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cancel: Option<CancelAction>,
    /// The identity that has requested the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<Arc<str>>,
    /// `true` if the thread is deleted when the run has ended.
    #[serde(default)]
    pub(crate) temporary: bool,
    /// `true` if the run has ended, and only the deletion of its thread is left.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_ended: bool,
    /// The error of the run, if it has failed or was cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<RunError>,
    /// The beginning of the run. `None` until it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) way: Option<Way>,
}

impl RunRecord {
    /// Returns the run that has begun the task of this run. `None` if it belongs to no task.
    pub(crate) fn task(&self) -> Option<RunId> {
        match self.run.kwargs.get(MESSAGE_KEY)?.get("task").and_then(serde_json::Value::as_str) {
            Some(first) => RunId::parse(first),
            None => Some(self.run.run_id),
        }
    }
}
