use crate::checkpoint::StoredCheckpoint;
use crate::engine::persist::{Level, Under, under};

/// The status of the last call of a subgraph.
pub(super) enum CallStatus {
    /// The call waits, in this task of its parent.
    Waiting(Box<StoredCheckpoint>, Under),
    /// The call has finished, and the superstep of its parent has not.
    Ending,
    /// The call has finished or was discarded.
    Ended,
    /// There was no call.
    NeverCalled,
}

/// Returns the status of the last call, whose checkpoint is `found`, in these parent runs.
pub(super) fn call_status(parents: &[Level], found: Option<StoredCheckpoint>) -> CallStatus {
    let Some(stored) = found else { return CallStatus::NeverCalled };
    match (under(&stored.checkpoint), parents.last()) {
        (Some(parent_task), Some(level)) if !parent_task.between && parent_task.checkpoint == level.id() => {
            match level.has_finished(parent_task.task) {
                true => CallStatus::Ending,
                false => CallStatus::Waiting(Box::new(stored), parent_task),
            }
        }
        _ => CallStatus::Ended,
    }
}
