use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::protocol::{AssistantId, Object, RunError, ThreadId, ThreadStatus, Timestamp, Ttl};

/// A thread, as it is stored. Its state is in the checkpointer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadRecord {
    /// The id.
    pub(crate) thread_id: ThreadId,
    /// The time of creation.
    pub(crate) created_at: Timestamp,
    /// The time of the last change. Set by [`Records`](super::Records).
    pub(crate) updated_at: Timestamp,
    /// The time of the last change of the state.
    pub(crate) state_updated_at: Timestamp,
    /// The metadata.
    pub(crate) metadata: Object,
    /// The config of the last run.
    #[serde(default)]
    pub(crate) config: Object,
    /// The context of the last run.
    #[serde(default)]
    pub(crate) context: Object,
    /// The status.
    pub(crate) status: ThreadStatus,
    /// The error of the last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<RunError>,
    /// The identity to which the thread belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<Arc<str>>,
    /// The graph of the last run or update. The state is read with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) graph_id: Option<String>,
    /// The assistant of the last run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) assistant_id: Option<AssistantId>,
    /// The time to live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ttl: Option<Ttl>,
    /// The end of the time to live.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<Timestamp>,
}

impl ThreadRecord {
    /// Creates the record of a new thread.
    pub(crate) fn new(thread_id: ThreadId, metadata: Object, ttl: Option<Ttl>) -> Self {
        let now = Timestamp::now();
        Self {
            thread_id,
            created_at: now,
            updated_at: now,
            state_updated_at: now,
            metadata,
            config: Object::new(),
            context: Object::new(),
            status: ThreadStatus::Idle,
            error: None,
            user_id: None,
            graph_id: None,
            assistant_id: None,
            ttl,
            expires_at: ttl.map(|ttl| ttl.end(now)),
        }
    }
}
