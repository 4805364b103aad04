use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::protocol::{RunId, Timestamp};

/// The result of a run that is to be sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WebhookRecord {
    /// The run.
    pub(crate) run_id: RunId,
    /// The identity that has requested the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user_id: Option<Arc<str>>,
    /// The address.
    pub(crate) url: String,
    /// The JSON to send.
    pub(crate) body: Value,
    /// The time of the next call.
    pub(crate) due: Timestamp,
    /// The number of calls that have failed.
    pub(crate) attempts: u32,
}
