//! Writes to a subgraph call from outside. The records of the call's waiting state are removed from its parent runs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use crate::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Fence, RecordKey, RecordKind, StoredCheckpoint, TaskRecord,
};
use crate::engine::context::{ParentRun, RunMetadata, RunShared, TaskMemories};
use crate::engine::graph::ErasedGraph;
use crate::engine::journal::{Journal, JournalHandle, ParentTask, ThreadTask};
use crate::engine::restore::planned;
use crate::engine::spans::RunSpan;
use crate::engine::stored::{
    StoredBreakpoints, parent_task, place, planned_at, read_breakpoints, step_number,
};
use crate::error::ErrorKind;
use crate::options::{Durability, Metadata};
use crate::store::LongTermStore;

/// A parent run of a subgraph call, at its head.
pub struct ParentHead {
    pub(crate) namespace: Arc<str>,
    pub(crate) stored: StoredCheckpoint,
    /// The thread's fence, with the head of the parent run's namespace.
    pub(crate) fence: Fence,
    /// The thread's origin.
    pub(crate) origin: Option<Arc<str>>,
}

impl std::fmt::Debug for ParentHead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParentHead").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl ParentHead {
    pub(crate) fn id(&self) -> CheckpointId {
        self.stored.checkpoint.id
    }

    /// Returns the checkpoint that first planned its tasks.
    pub(crate) fn planned_at(&self, thread: &Arc<str>) -> Result<CheckpointId, ErrorKind> {
        planned_at(thread, &self.stored.checkpoint)
    }

    /// Returns `true` if a task that the run has planned is finished.
    pub(crate) fn has_finished(&self, task: usize) -> bool {
        let finished = |key: &RecordKey| key.kind == RecordKind::Finished && key.task == place(task);
        self.stored.records.iter().any(|record| finished(&record.key))
    }
}

/// Returns the task of the thread in which the innermost of these runs runs; `None` if it is the run of the thread.
pub(crate) fn thread_task(
    thread: &Arc<str>,
    parents: &[ParentHead],
) -> Result<Option<ThreadTask>, ErrorKind> {
    let [root, call, ..] = parents else { return Ok(None) };
    let task = parent_task(thread, &call.stored.checkpoint)?;
    Ok(task.map(|task| ThreadTask { at: root.id(), task: task.task }))
}

/// Returns the writes that remove the waiting state of a call from its parent runs, outermost first.
///
/// The waiting state consists of the call's interrupts, its failure, its breakpoints and its sleeps. Records of other
/// tasks stay.
pub(crate) fn withdraw(
    thread: &Arc<str>,
    parents: &[ParentHead],
    call: &StoredCheckpoint,
    caller: &ParentTask,
) -> Result<Vec<BatchWrite>, ErrorKind> {
    let asked: HashSet<&Arc<str>> = call
        .records
        .iter()
        .filter(|record| record.key.kind == RecordKind::Interrupt)
        .map(|record| &record.key.key)
        .collect();
    let (mut task, mut inside, mut others_failed) = (caller.task, String::new(), false);
    let mut writes = Vec::new();
    for parent in parents.iter().rev() {
        let StoredCheckpoint { checkpoint, records, .. } = &parent.stored;
        let (at, planned) = (place(task), planned(checkpoint, records));
        let node = planned.get(task).map_or("", |node| node);
        inside = format!("{node}/{inside}");
        let handlers = format!("{}:{task}/on_error/", parent.planned_at(thread)?);
        let is_of_call = |key: &RecordKey| match key.kind {
            RecordKind::Interrupt | RecordKind::Answer => {
                key.task == at && (asked.contains(&key.key) || key.key.starts_with(&handlers))
            }
            RecordKind::Failed => key.task == at && !others_failed,
            RecordKind::Stopped => true,
            _ => false,
        };
        let remove =
            records.iter().map(|record| &record.key).filter(|key| is_of_call(key)).cloned().collect();
        // With two calls of one node, the record does not tell which of them has stopped at a breakpoint.
        let alone = planned.iter().filter(|name| &***name == node).count() == 1;
        let put = if alone {
            read_breakpoints(thread, checkpoint, records)?
                .and_then(|breakpoints| passed(breakpoints, &inside))
        } else {
            None
        };
        others_failed |=
            records.iter().any(|record| record.key.kind == RecordKind::Failed && record.key.task != at);
        writes.push(BatchWrite::records(checkpoint.id, remove, put.into_iter().collect()));
        task = parent_task(thread, checkpoint)?.map_or(0, |parent_task| parent_task.task);
    }
    writes.reverse();
    Ok(writes)
}

/// Removes a call's breakpoints. The parent run's own breakpoints stay passed.
fn passed(mut breakpoints: StoredBreakpoints, inside: &str) -> Option<TaskRecord> {
    breakpoints.before.retain(|node| !node.starts_with(inside));
    breakpoints.after.retain(|node| !node.starts_with(inside));
    breakpoints.record()
}

/// Returns the journals of the parent runs of a call, outermost first. The outermost raises the thread's epoch.
pub(crate) fn journals(outermost: Journal, parents: &[ParentHead]) -> Vec<Journal> {
    let mut journals = vec![outermost];
    for parent in parents.iter().skip(1) {
        if let Some(parent_journal) = journals.last() {
            let (namespace, head) = (Arc::clone(&parent.namespace), parent.fence.head);
            // No timer fires in an update from outside, so the parent task does not matter.
            journals.push(Journal::of_call(&parent_journal.shared, 0, namespace, head, Durability::Async));
        }
    }
    journals
}

/// Writes to the parent runs of a call. The call's own writes follow.
///
/// After a crash in between, the call still waits as before, and reports that again when it continues.
pub(crate) async fn write_to_parents(
    journals: Vec<Journal>,
    writes: Vec<BatchWrite>,
) -> Result<(), Arc<CheckpointError>> {
    let mut writes = writes.into_iter();
    for (parent, journal) in journals.into_iter().enumerate() {
        push(&journal.shared, writes.next());
        let journal = Mutex::new(journal);
        match parent {
            0 => Journal::claim(&journal).await?,
            _ => Journal::flush(&journal).await?,
        }
    }
    Ok(())
}

fn push(shared: &JournalHandle, write: Option<BatchWrite>) {
    match write {
        Some(BatchWrite::Records { remove, put, .. }) if remove.is_empty() && put.is_empty() => {}
        Some(write) => shared.push(write),
        None => {}
    }
}

/// Returns the prefix of ids derived from writes to a call. It is the same prefix that the call itself uses.
pub(crate) fn call_id(
    thread: &Arc<str>,
    parents: &[ParentHead],
    caller: &ParentTask,
) -> Result<String, ErrorKind> {
    let mut tasks = Vec::new();
    for inner in parents.iter().skip(1) {
        let parent_task = parent_task(thread, &inner.stored.checkpoint)?;
        tasks.push(parent_task.map_or(0, |parent_task| parent_task.task));
    }
    tasks.push(caller.task);
    Ok(parents.iter().zip(tasks).fold(thread.to_string(), |call, (parent, task)| {
        let StoredCheckpoint { checkpoint, records, .. } = &parent.stored;
        let planned = planned(checkpoint, records);
        let node = planned.get(task).map_or("", |node| node);
        format!("{call}/{}.{task}.{node}", step_number(checkpoint.step) + 1)
    }))
}

/// Creates the data that the tasks of a call share, for a call that is updated from outside.
pub(crate) fn shared_from_outside(
    graph: &ErasedGraph,
    thread: &Arc<str>,
    call: String,
    metadata: Metadata,
    store: Option<LongTermStore>,
) -> RunShared {
    RunShared {
        names: Arc::clone(&graph.0.names),
        metadata: RunMetadata::Own(metadata),
        thread: Some(Arc::clone(thread)),
        sink: None,
        memories: TaskMemories::with_scope(Arc::clone(thread)),
        steps: None,
        script: None,
        store: graph.1.clone().or(store),
        // No node runs in an update.
        cache: None,
        longest_sleep: None,
        stop: Mutex::default(),
        parent_run: ParentRun {
            call: Some(call.into()),
            aliases: graph.0.aliases.clone(),
            ..ParentRun::default()
        },
        spans: RunSpan::none(),
    }
}
