//! A write to a call from outside: what the runs around it have stored of what it waited for is taken back.

use std::sync::{Arc, Mutex};

use crate::checkpoint::{
    BatchWrite, CheckpointError, CheckpointId, Fence, RecordKey, RecordKind, StoredCheckpoint, TaskRecord,
};
use crate::engine::Durability;
use crate::engine::Metadata;
use crate::engine::cx::RunShared;
use crate::engine::desk::Memos;
use crate::engine::nest::Nest;
use crate::engine::spans::RunSpan;
use crate::graph::Graph;
use crate::store::LongTermStore;

use super::begin::step_number;
use super::gate::{Gate, read_gate};
use super::host::Under;
use super::journal::{Journal, Shared};
use super::progress::under;
use super::read_records::planned;
use super::records::place;

/// A run that others are within the tasks of, where it stands.
pub struct Level {
    pub(crate) namespace: Arc<str>,
    pub(crate) stored: StoredCheckpoint,
    /// Where its thread stands, with its namespace's head.
    pub(crate) fence: Fence,
    /// The thread's origin.
    pub(crate) origin: Option<Arc<str>>,
}

impl std::fmt::Debug for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Level").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl Level {
    pub(crate) fn id(&self) -> CheckpointId {
        self.stored.checkpoint.id
    }

    /// Whether a task that it has planned has come to its end.
    pub(crate) fn has_finished(&self, task: usize) -> bool {
        let finished = |key: &RecordKey| key.kind == RecordKind::Finished && key.task == place(task);
        self.stored.records.iter().any(|record| finished(&record.key))
    }
}

/// For each of the runs around a call, outermost first, what is taken back there of what the call waited for: its questions,
/// how it has failed, that it stands at breakpoints or sleeps. What others wait for stays.
pub(crate) fn withdraw(around: &[Level], call: &StoredCheckpoint, within: &Under) -> Vec<BatchWrite> {
    let asked: Vec<&Arc<str>> = call
        .records
        .iter()
        .filter(|record| record.key.kind == RecordKind::Interrupt)
        .map(|record| &record.key.key)
        .collect();
    let (mut task, mut inside, mut others_failed) = (within.task, String::new(), false);
    let mut writes = Vec::new();
    for level in around.iter().rev() {
        let StoredCheckpoint { checkpoint, records, .. } = &level.stored;
        let (at, planned) = (place(task), planned(checkpoint, records));
        let node = planned.get(task).map_or("", |node| node);
        inside = format!("{node}/{inside}");
        let handlers = format!("{}:{task}/on_error/", checkpoint.id);
        let is_of_call = |key: &RecordKey| match key.kind {
            RecordKind::Interrupt | RecordKind::Answer => {
                key.task == at && (asked.contains(&&key.key) || key.key.starts_with(&handlers))
            }
            RecordKind::Failed => key.task == at && !others_failed,
            RecordKind::Stopped => true,
            _ => false,
        };
        let remove =
            records.iter().map(|record| &record.key).filter(|key| is_of_call(key)).cloned().collect();
        // Of two calls of one node it is not said which of them stands at a breakpoint.
        let alone = planned.iter().filter(|name| &***name == node).count() == 1;
        let put = if alone { read_gate(records).and_then(|gate| passed(gate, &inside)) } else { None };
        others_failed |=
            records.iter().any(|record| record.key.kind == RecordKind::Failed && record.key.task != at);
        writes.push(BatchWrite::Records {
            checkpoint: checkpoint.id,
            remove,
            put: put.into_iter().collect(),
        });
        task = under(checkpoint).map_or(0, |under| under.task);
    }
    writes.reverse();
    writes
}

/// The breakpoints without those of a call; the run's own, which it has passed, stay passed.
fn passed(mut gate: Gate, inside: &str) -> Option<TaskRecord> {
    gate.before.retain(|node| !node.starts_with(inside));
    gate.after.retain(|node| !node.starts_with(inside));
    gate.record()
}

/// The journals of the runs around a call, outermost first: the outermost raises the thread's epoch.
pub(crate) fn journals(outermost: Journal, around: &[Level]) -> Vec<Journal> {
    let mut journals = vec![outermost];
    for level in around.iter().skip(1) {
        if let Some(outer) = journals.last() {
            let (namespace, head) = (Arc::clone(&level.namespace), level.fence.head);
            journals.push(Journal::within(&outer.shared, namespace, head, Durability::Async));
        }
    }
    journals
}

/// Makes the writes of the runs around a call. The call's own follow: whoever finds only these finds a call that waits as
/// before, and says so again once it goes on.
pub(crate) async fn write_around(
    journals: Vec<Journal>,
    writes: Vec<BatchWrite>,
) -> Result<(), Arc<CheckpointError>> {
    let mut writes = writes.into_iter();
    for (level, journal) in journals.into_iter().enumerate() {
        push(&journal.shared, writes.next());
        let journal = Mutex::new(journal);
        match level {
            0 => Journal::claim(&journal).await?,
            _ => Journal::flush(&journal).await?,
        }
    }
    Ok(())
}

fn push(shared: &Shared, write: Option<BatchWrite>) {
    match write {
        Some(BatchWrite::Records { remove, put, .. }) if remove.is_empty() && put.is_empty() => {}
        Some(write) => shared.push(write),
        None => {}
    }
}

/// What ids are derived from that a call's writes are given: as where the call runs.
pub(crate) fn call_id(thread: &str, around: &[Level], within: &Under) -> String {
    let tasks =
        around.iter().skip(1).map(|inner| under(&inner.stored.checkpoint).map_or(0, |under| under.task));
    let tasks = tasks.chain([within.task]);
    around.iter().zip(tasks).fold(thread.to_owned(), |call, (level, task)| {
        let StoredCheckpoint { checkpoint, records, .. } = &level.stored;
        let planned = planned(checkpoint, records);
        let node = planned.get(task).map_or("", |node| node);
        format!("{call}/{}.{task}.{node}", step_number(checkpoint.step) + 1)
    })
}

/// What the tasks of a call would have in common to which is written from outside.
pub(crate) fn shared_from_outside<S: crate::state::GraphState, D>(
    graph: &Graph<S, D>,
    thread: &Arc<str>,
    call: String,
    metadata: Metadata,
    store: Option<LongTermStore>,
) -> RunShared {
    RunShared {
        names: Arc::clone(&graph.0.names),
        metadata,
        thread: Some(Arc::clone(thread)),
        sink: None,
        memos: Memos::within(Arc::clone(thread)),
        steps: None,
        script: None,
        store: graph.1.clone().or(store),
        // No node runs.
        cache: None,
        longest_sleep: None,
        stop: Mutex::default(),
        nest: Nest { call: Some(call.into()), aliases: graph.0.aliases.clone(), ..Nest::default() },
        spans: RunSpan::none(),
    }
}
