use std::sync::Arc;

use crate::checkpoint::StoredCheckpoint;
use crate::engine::{ParentHead, ParentTask, parent_task};
use crate::error::ErrorKind;

/// The status of the last call of a subgraph.
pub(crate) enum CallStatus {
    /// The call waits, in this task of its parent.
    Waiting(Box<StoredCheckpoint>, ParentTask),
    /// The call has finished, and the superstep of its parent has not.
    Ending,
    /// The call has finished or was discarded.
    Ended,
    /// There was no call.
    NeverCalled,
}

/// Returns the status of the last call, whose checkpoint is `found`, in these parent runs.
pub(crate) fn call_status(
    thread: &Arc<str>,
    parents: &[ParentHead],
    found: Option<StoredCheckpoint>,
) -> Result<CallStatus, ErrorKind> {
    let Some(stored) = found else { return Ok(CallStatus::NeverCalled) };
    let planned_at = parents.last().map(|parent| parent.planned_at(thread)).transpose()?;
    Ok(match (parent_task(thread, &stored.checkpoint)?, parents.last()) {
        (Some(parent_task), Some(parent))
            if !parent_task.between_calls && Some(parent_task.checkpoint) == planned_at =>
        {
            match parent.has_finished(parent_task.task) {
                true => CallStatus::Ending,
                false => CallStatus::Waiting(Box::new(stored), parent_task),
            }
        }
        _ => CallStatus::Ended,
    })
}
