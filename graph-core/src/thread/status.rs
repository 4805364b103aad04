//! The status of a thread, as a program reads it.

use std::sync::Arc;
use std::time::SystemTime;

use crate::checkpoint::{CheckpointError, CheckpointId, Fence, StatusKind, ThreadQuery, ThreadRecord};
use crate::engine::{StoredBreakpoints, StoredFailure, Waiting, open};
use crate::error::{Error, ErrorKind};
use crate::interrupt::OpenInterrupt;
use crate::options::{Metadata, clock};

use super::TaskError;
use super::erased::ErasedThread;
use super::load::read;

/// The status of a thread.
///
/// Each write that changes the status stores it, so a list does not read finished threads. For threads that an older
/// version of this crate has written, the status follows from the thread's head.
#[derive(Debug)]
#[non_exhaustive]
pub enum ThreadStatus {
    /// Open interrupts of pending tasks wait for answers. Other pending tasks may be left to run: see
    /// [`Snapshot::pending`](super::Snapshot::pending). If [`wakes_at`](super::ListedThread::wakes_at) is set, the questions expire then.
    WaitingForAnswer(Vec<OpenInterrupt>),
    /// The thread has stopped at breakpoints.
    AtBreakpoint {
        /// The nodes of the next superstep that have a breakpoint before them.
        before: Vec<String>,
        /// The nodes of the last superstep that have a breakpoint after them.
        after: Vec<String>,
    },
    /// The thread sleeps, and no run is active.
    WaitingForTime,
    /// The run was [stopped](crate::run::Stop).
    Stopped,
    /// The run has failed: a node failed and will not be retried, or the superstep could not be applied.
    ///
    /// The list has the failures of the tasks. It is empty if the superstep failed as a whole, for example because two
    /// tasks wrote the same field, or if a required join was not filled.
    ///
    /// Other tasks of the superstep may still ask questions: see [`ListedThread::interrupts`](super::ListedThread::interrupts). An answer resumes the
    /// thread, which runs the failed tasks again. A task whose answer could not be read has not failed: it waits for
    /// another answer.
    Failed(Vec<TaskError>),
    /// The run has reached its recursion limit or a superstep timeout.
    AtLimit,
    /// A run has started and has not stored its end, or an update has planned nodes that no run has started.
    ///
    /// The run may be active in this or another process. It may also have crashed or been dropped. The checkpointer
    /// cannot distinguish these cases. Resuming takes over the thread.
    Running,
    /// Nothing is left to run.
    Finished,
    /// This program cannot read the thread: the stored data is damaged, or belongs to another version of the program.
    ///
    /// Resuming the thread fails with the same error.
    Unreadable(Error),
}

impl ThreadStatus {
    /// Returns the kind of the status, for [`ThreadList::status`](super::ThreadList::status). `None` if the thread is
    /// unreadable.
    pub const fn kind(&self) -> Option<StatusKind> {
        Some(match self {
            Self::WaitingForAnswer(_) => StatusKind::WaitingForAnswer,
            Self::AtBreakpoint { .. } => StatusKind::AtBreakpoint,
            Self::WaitingForTime => StatusKind::WaitingForTime,
            Self::Stopped => StatusKind::Stopped,
            Self::Failed(_) => StatusKind::Failed,
            Self::AtLimit => StatusKind::AtLimit,
            Self::Running => StatusKind::Running,
            Self::Finished => StatusKind::Finished,
            Self::Unreadable(_) => return None,
        })
    }
}

/// The status of a thread, read from its head; see [`ListedThread`](super::ListedThread).
pub(super) struct ReadStatus {
    pub(super) checkpoint: Option<CheckpointId>,
    pub(super) run_id: Option<Arc<str>>,
    pub(super) next: Vec<Arc<str>>,
    pub(super) status: ThreadStatus,
    pub(super) wakes_at: Option<SystemTime>,
    pub(super) changed_at: Option<SystemTime>,
    pub(super) metadata: Metadata,
    pub(super) open_interrupts: Vec<OpenInterrupt>,
    /// The epoch and head of the thread.
    pub(super) seen: Option<Fence>,
}

impl ReadStatus {
    /// Returns `true` if the thread has no active run and its wake-up time has passed.
    pub(super) fn is_due(&self, now: SystemTime) -> bool {
        let is_idle = matches!(
            self.status,
            ThreadStatus::WaitingForTime | ThreadStatus::WaitingForAnswer(_) | ThreadStatus::Stopped
        );
        is_idle && self.wakes_at.is_some_and(|time| time <= now)
    }
}

/// Returns `true` if the error concerns one thread, and `false` if the whole store has failed.
pub(super) fn is_of_thread(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Checkpoint(source) => matches!(**source, CheckpointError::Corrupt(_)),
        _ => true,
    }
}

pub(super) fn unreadable(record: &ThreadRecord, error: Error) -> ReadStatus {
    let head = record.head.as_ref().ok().and_then(Option::as_ref);
    ReadStatus {
        checkpoint: head.map(|head| head.id),
        run_id: head.map(|head| Arc::clone(&head.run.id)),
        next: head.map(|head| head.next.clone()).unwrap_or_default(),
        status: ThreadStatus::Unreadable(error),
        wakes_at: record.status.wakes_at,
        changed_at: record.status.changed_at,
        metadata: head.map(|head| head.run.metadata.clone()).unwrap_or_default(),
        open_interrupts: Vec::new(),
        seen: None,
    }
}

/// Reads the status of a thread, or `None` if the query has selected it and no longer does.
pub(super) async fn read_thread(
    thread: &ErasedThread,
    query: &ThreadQuery,
) -> Result<Option<ReadStatus>, Error> {
    let loaded = read(thread, None).await?;
    let (found, known_status, seen) = (loaded.found, loaded.status, loaded.fence);
    let Some(stored) = found.filter(|_| query.selects(&known_status)) else { return Ok(None) };
    let graph = &thread.graph.graph.0;
    let (checkpoint, records) = (&stored.checkpoint, &stored.records);
    let waiting = Waiting::read(graph, &thread.name, checkpoint, records);
    let Waiting { tasks, breakpoints, stopped } = waiting.map_err(|kind| thread.graph.refuse(kind))?;
    let (id, run) = (checkpoint.id, Arc::clone(&checkpoint.run));
    if tasks.is_empty() && known_status.kind != StatusKind::Failed {
        return Ok((!query.unfinished).then(|| ReadStatus {
            checkpoint: Some(id),
            run_id: Some(Arc::clone(&run.id)),
            next: Vec::new(),
            status: ThreadStatus::Finished,
            wakes_at: None,
            changed_at: known_status.changed_at,
            metadata: run.metadata.clone(),
            open_interrupts: Vec::new(),
            seen: Some(seen),
        }));
    }
    let next = tasks.iter().map(|(node, _)| Arc::clone(node)).collect();
    let (mut questions, mut failures, mut wakes_at) = (Vec::new(), Vec::new(), None);
    let mut failures_with_questions = Vec::new();
    for (node, task_progress) in tasks {
        if task_progress.result.is_some() {
            continue;
        }
        let retry_at = task_progress.failure.as_ref().and_then(StoredFailure::retry_at);
        let later = task_progress.sleeps_until().chain(retry_at);
        wakes_at = wakes_at.into_iter().chain(later.filter(|time| *time > clock::now())).min();
        if let Some(failure) =
            task_progress.failure.filter(|failure| retry_at.is_none() && !failure.waits_again)
        {
            // An open question is newer than an earlier failure of its task, unless both are of one subgraph call.
            let of =
                if task_progress.questions.is_empty() { &mut failures } else { &mut failures_with_questions };
            of.push(TaskError::of(&node, failure));
        }
        questions.extend(task_progress.questions);
    }
    if failures.is_empty() && known_status.kind == StatusKind::Failed {
        failures = failures_with_questions;
    }
    let of_records = || match &stopped {
        Some(stopped) => stopped.status(breakpoints.is_some(), !questions.is_empty()).kind,
        None if !failures.is_empty() => StatusKind::Failed,
        None if !questions.is_empty() => StatusKind::WaitingForAnswer,
        None if breakpoints.is_some() => StatusKind::AtBreakpoint,
        None => StatusKind::Running,
    };
    let kind = match known_status.kind {
        // An older version has written the thread, or the status is not that of the records.
        StatusKind::Unknown | StatusKind::Finished => of_records(),
        StatusKind::WaitingForAnswer if questions.is_empty() => of_records(),
        StatusKind::AtBreakpoint if breakpoints.is_none() => of_records(),
        kind => kind,
    };
    let open_interrupts = questions.clone();
    let status = match (kind, breakpoints) {
        (StatusKind::AtBreakpoint, Some(StoredBreakpoints { before, after, .. })) => {
            ThreadStatus::AtBreakpoint { before, after }
        }
        (StatusKind::WaitingForAnswer, _) => ThreadStatus::WaitingForAnswer(questions),
        (StatusKind::WaitingForTime, _) => ThreadStatus::WaitingForTime,
        (StatusKind::Stopped, _) => ThreadStatus::Stopped,
        (StatusKind::AtLimit, _) => ThreadStatus::AtLimit,
        (StatusKind::Failed, _) => ThreadStatus::Failed(failures),
        _ => ThreadStatus::Running,
    };
    let wakes_at = match (known_status.kind, &status) {
        (_, ThreadStatus::Failed(_)) => None,
        // Its sleeps tell when the run goes on.
        (StatusKind::Running, _) => wakes_at,
        // A stopped run of an older version has stored its wake-up time in the record.
        (StatusKind::Unknown, _) => stopped.map_or(wakes_at, |stopped| stopped.wakes_at()),
        // The stored status has no time, because the thread is not due then.
        (StatusKind::AtBreakpoint, _) => stopped.and_then(|stopped| stopped.wakes_at()),
        _ => known_status.wakes_at,
    };
    // Whatever a resumption could not read is reported now.
    open(graph, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
    let read = ReadStatus {
        checkpoint: Some(id),
        run_id: Some(Arc::clone(&run.id)),
        next,
        status,
        wakes_at,
        changed_at: known_status.changed_at,
        metadata: run.metadata.clone(),
        open_interrupts,
        seen: Some(seen),
    };
    Ok(Some(read).filter(|read| query.due.is_none_or(|now| read.is_due(now))))
}
