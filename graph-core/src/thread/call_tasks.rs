//! The tasks of a checkpoint, without its graph.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, RecordKind, StoredCheckpoint, TaskRecord};
use crate::engine::{StoredFailure, StoredQuestion, corrupt, place, planned};
use crate::error::ErrorKind;
use crate::payload::Payload;

use super::{CallTask, TaskError, TaskStatus};

/// Reads the planned tasks of a checkpoint. `applied` means that a later checkpoint has applied their superstep.
pub(super) fn call_tasks(
    thread: &Arc<str>,
    stored: &StoredCheckpoint,
    planned_at: CheckpointId,
    applied: bool,
) -> Result<Vec<CallTask>, ErrorKind> {
    let StoredCheckpoint { checkpoint, records, .. } = stored;
    let mut by_task: HashMap<u32, Vec<&TaskRecord>> = HashMap::new();
    for record in records {
        by_task.entry(record.key.task).or_default().push(record);
    }
    let unread = |what: &str, error: &serde_json::Error| {
        let reason = format!("it does not have the expected form, at column {}", error.column());
        corrupt(thread, checkpoint, what, reason)
    };
    let mut tasks = Vec::new();
    for (index, node) in planned(checkpoint, records).into_iter().enumerate() {
        let records = by_task.get(&place(index)).map(Vec::as_slice).unwrap_or_default();
        let of = |kind| records.iter().filter(move |record| record.key.kind == kind);
        let is_finished = applied || of(RecordKind::Finished).next().is_some();
        // The task has finished in a later attempt.
        let failed = of(RecordKind::Failed).next().filter(|_| !applied);
        let failure = failed.map(|record| json::<StoredFailure>(&record.payload));
        let failure = failure.transpose().map_err(|error| unread("the failure of a task", &error))?;
        let answered: HashSet<&str> = of(RecordKind::Answer).map(|record| &*record.key.key).collect();
        let mut open = Vec::new();
        for record in of(RecordKind::Interrupt).filter(|record| !answered.contains(&*record.key.key)) {
            let question: StoredQuestion =
                json(&record.payload).map_err(|error| unread("the question of a task", &error))?;
            open.push((record.key.key.to_string(), question));
        }
        if is_finished {
            open.clear();
        }
        open.sort_by_key(|(_, question)| question.nth);
        tasks.push(CallTask {
            id: format!("{planned_at}:{index}"),
            status: TaskStatus::of(is_finished, !open.is_empty(), failure.is_some()),
            error: failure.map(|failure| TaskError::of(&node, failure)),
            interrupts: open.into_iter().map(|(id, question)| question.open(id, &node, index)).collect(),
            node: node.to_string(),
        });
    }
    Ok(tasks)
}

fn json<T: serde::de::DeserializeOwned>(payload: &Payload) -> Result<T, serde_json::Error> {
    serde_json::from_slice(payload.bytes())
}
