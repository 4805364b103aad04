use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::protocol::{AssistantId, RunId, ThreadId, Timestamp};

/// A task of the Agent2Agent protocol, as it is stored: the run that a message has begun, and the runs that continue it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskRecord {
    /// The thread.
    pub(crate) thread_id: ThreadId,
    /// The run that has begun the task. It may be deleted.
    pub(crate) first: RunId,
    /// The assistant.
    pub(crate) assistant_id: AssistantId,
    /// The identity to which the thread belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<Arc<str>>,
    /// The runs, newest first.
    pub(crate) runs: Vec<RunId>,
    /// The time of the last change. It is the place of the task in lists.
    pub(crate) changed_at: Timestamp,
}

/// A place of a task in a list. A task that changes gets a new place, and for a while it keeps the old ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TaskPlace {
    /// The thread.
    pub(crate) thread_id: ThreadId,
    /// The run that has begun the task.
    pub(crate) first: RunId,
    /// The time of the change that has given the task this place.
    pub(crate) since: Timestamp,
    /// The time of the next change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<Timestamp>,
}

impl TaskPlace {
    /// Returns `true` if the task was here at this time.
    pub(crate) fn holds_at(&self, time: Timestamp) -> bool {
        self.since <= time && self.until.is_none_or(|until| until > time)
    }
}
