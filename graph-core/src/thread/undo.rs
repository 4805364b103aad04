//! The additions to a checkpoint that a roll back takes back.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use crate::checkpoint::{
    CheckpointId, RecordKey, RecordKind, StatusKind, StoredCheckpoint, StoredStatus, TaskRecord,
};
use crate::engine::{
    START, StoredBreakpoints, StoredQuestion, Waiting, answers_at_first, begun_joins, is_accepted_later,
    read_breakpoints,
};
use crate::error::ErrorKind;

use super::erased::ErasedThread;

/// The changes of the records of a checkpoint by which it is as it was when the thread first waited there.
#[derive(Default)]
pub(super) struct Undone {
    pub(super) remove: Vec<RecordKey>,
    pub(super) put: Vec<TaskRecord>,
}

/// Returns `true` if the answer is to a question of the task itself, and not to one of its subgraph call.
pub(super) fn is_own(answer: &RecordKey, planned_at: CheckpointId) -> bool {
    let rest = answer.key.strip_prefix(&*format!("{planned_at}:{}", answer.task));
    // A call that is not stored runs again from its top, like its task.
    rest.is_some_and(|rest| rest.starts_with(['/', '>']))
}

/// Finds the additions of resumptions to a checkpoint.
///
/// Adds the tasks whose subgraph calls have received an answer to `anew`. They begin anew.
pub(super) fn undo(
    thread: &Arc<str>,
    head: &StoredCheckpoint,
    planned_at: CheckpointId,
    anew: &mut BTreeSet<usize>,
) -> Result<Undone, ErrorKind> {
    let StoredCheckpoint { checkpoint, records, .. } = head;
    if checkpoint.next.iter().any(|next| &**next == START) {
        // A pending input. Its records are the input.
        return Ok(Undone::default());
    }
    let planned = u32::try_from(checkpoint.next.len()).unwrap_or(RecordKey::NO_TASK);
    let first: HashSet<String> = answers_at_first(thread, checkpoint)?.into_iter().collect();
    // The number of answers that stay, by task with an answer that does not.
    let mut answered: BTreeMap<u32, usize> = BTreeMap::new();
    let answers = || records.iter().map(|record| &record.key).filter(|key| key.kind == RecordKind::Answer);
    for answer in answers().filter(|answer| !first.contains(&*answer.key)) {
        answered.insert(answer.task, 0);
        if !is_own(answer, planned_at) {
            anew.extend(usize::try_from(answer.task));
        }
    }
    for answer in answers().filter(|answer| first.contains(&*answer.key)) {
        answered.entry(answer.task).and_modify(|count| *count += 1);
    }
    let is_resumption = |key: &RecordKey| matches!(key.kind, RecordKind::Patch | RecordKind::Goto);
    let was_resumed = !answered.is_empty() || records.iter().any(|record| is_resumption(&record.key));
    let mut undone = Undone::default();
    for TaskRecord { key, payload, .. } in records {
        let kept_answers = answered.get(&key.task);
        let is_anew = usize::try_from(key.task).is_ok_and(|task| anew.contains(&task));
        let removes = match key.kind {
            RecordKind::Patch | RecordKind::Goto => true,
            // A resumption removes it, so it is of a run that stopped later.
            RecordKind::Stopped => was_resumed,
            // Sent again, the request that is taken back applies again.
            RecordKind::Request => is_accepted_later(payload),
            _ if key.task != RecordKey::NO_TASK && key.task >= planned => true,
            RecordKind::Write | RecordKind::Finished => is_anew || kept_answers.is_some(),
            RecordKind::Answer => is_anew || !first.contains(&*key.key),
            RecordKind::Interrupt if is_anew => true,
            RecordKind::Interrupt => {
                kept_answers.is_some_and(|count| StoredQuestion::answers_before(payload) > *count)
            }
            _ => false,
        };
        if removes {
            undone.remove.push(key.clone());
        } else if key.kind == RecordKind::Interrupt && kept_answers.is_some() && !first.contains(&*key.key) {
            undone.put.extend(StoredQuestion::without_answer(key, payload));
        }
    }
    if let Some(breakpoints) = read_breakpoints(thread, checkpoint, records)?
        && breakpoints.passed
    {
        undone.put.extend(StoredBreakpoints { passed: false, ..breakpoints }.record());
    }
    Ok(undone)
}

impl Undone {
    pub(super) fn is_nothing(&self) -> bool {
        self.remove.is_empty() && self.put.is_empty()
    }

    /// Returns the status of a thread whose head is this checkpoint, after the changes.
    pub(super) fn status(&self, thread: &ErasedThread, head: StoredCheckpoint) -> StoredStatus {
        let StoredCheckpoint { checkpoint, mut records, .. } = head;
        let graph = &thread.graph.graph.0;
        let removed: HashSet<&RecordKey> =
            self.remove.iter().chain(self.put.iter().map(|put| &put.key)).collect();
        records.retain(|record| !removed.contains(&record.key));
        records.extend(self.put.iter().cloned());
        records.sort_by(|one, other| one.key.cmp(&other.key));
        let is_input = checkpoint.next.iter().any(|next| &**next == START);
        if checkpoint.next.is_empty() {
            let joins = begun_joins(graph, &thread.name, &checkpoint).unwrap_or_default();
            let waits = joins.iter().any(|join| !join.optional);
            return StoredStatus::new(if waits { StatusKind::Failed } else { StatusKind::Finished });
        }
        match Waiting::read(graph, &thread.name, &checkpoint, &records) {
            Ok(waiting) if !is_input => waiting.status(),
            // A resumption reports what it cannot read.
            _ => StoredStatus::new(StatusKind::Running),
        }
    }
}
