//! The tasks of a checkpoint, without its graph.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, StoredCheckpoint};
use crate::engine::{TaskRecords, planned};
use crate::error::ErrorKind;

use super::{CallTask, TaskError, TaskStatus};

/// Reads the planned tasks of a checkpoint. `applied` means that a later checkpoint has applied their superstep.
pub(super) fn call_tasks(
    thread: &Arc<str>,
    stored: &StoredCheckpoint,
    planned_at: CheckpointId,
    applied: bool,
) -> Result<Vec<CallTask>, ErrorKind> {
    let StoredCheckpoint { checkpoint, records, .. } = stored;
    let read = TaskRecords { thread, checkpoint, records };
    let mut tasks = Vec::new();
    for (index, node) in planned(checkpoint, records).into_iter().enumerate() {
        let is_finished = applied || read.is_finished(index);
        // An applied task has finished in a later attempt.
        let failure = if applied { None } else { read.failure(index)? };
        let interrupts = if is_finished { Vec::new() } else { read.interrupts(index)?.open(&node, index) };
        tasks.push(CallTask {
            id: format!("{planned_at}:{index}"),
            status: TaskStatus::of(is_finished, !interrupts.is_empty(), failure.is_some()),
            error: failure.map(|failure| TaskError::of(&node, failure)),
            interrupts,
            node: node.to_string(),
        });
    }
    Ok(tasks)
}
