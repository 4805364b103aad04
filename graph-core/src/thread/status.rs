//! The status of a thread, as a program reads it.

use std::sync::Arc;

use crate::checkpoint::{CheckpointError, StatusKind, ThreadRecord};
use crate::engine::clock;
use crate::engine::persist::{Gate, StoredFailure, open, read_gate, read_stopped, read_tasks};
use crate::error::{Error, ErrorKind};
use crate::interrupt::OpenInterrupt;
use crate::state::GraphState;

use super::load::read;
use super::{TaskError, Thread, UnfinishedThread};

/// The reason why a thread is not finished.
///
/// Each write that changes the status stores it, so a list does not read finished threads. For threads that an older
/// version of this crate has written, the status follows from the thread's head.
#[derive(Debug)]
#[non_exhaustive]
pub enum ThreadStatus {
    /// Open interrupts of pending tasks wait for answers. Other pending tasks may be left to run: see
    /// [`Snapshot::pending`](super::Snapshot::pending). If [`wakes_at`](UnfinishedThread::wakes_at) is set, the questions expire then.
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
    Failed(Vec<TaskError>),
    /// The run has reached its recursion limit or a superstep timeout.
    AtLimit,
    /// A run has started and has not stored its end, or an update has planned nodes that no run has started.
    ///
    /// The run may be active in this or another process. It may also have crashed or been dropped. The checkpointer
    /// cannot distinguish these cases. Resuming takes over the thread.
    Running,
    /// This program cannot read the thread: the stored data is damaged, or belongs to another version of the program.
    ///
    /// Resuming the thread fails with the same error.
    Unreadable(Error),
}

/// Returns `true` if the error concerns one thread, and `false` if the whole store has failed.
pub(super) fn is_of_thread(error: &Error) -> bool {
    match error.kind() {
        ErrorKind::Checkpoint(source) => matches!(**source, CheckpointError::Corrupt(_)),
        _ => true,
    }
}

pub(super) fn unreadable<S: GraphState, D>(
    thread: Thread<S, D>,
    record: &ThreadRecord,
    error: Error,
) -> UnfinishedThread<S, D> {
    let head = record.head.as_ref().ok().and_then(Option::as_ref);
    UnfinishedThread {
        thread,
        checkpoint: head.map(|head| head.id),
        run_id: head.map(|head| Arc::clone(&head.run.id)),
        next: head.map(|head| head.next.clone()).unwrap_or_default(),
        status: ThreadStatus::Unreadable(error),
        wakes_at: record.status.wakes_at,
    }
}

/// Reads the status of a thread, or `None` if it has nothing to continue or has finished since it was listed.
pub(super) async fn read_thread<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
) -> Result<Option<UnfinishedThread<S, D>>, Error> {
    let loaded = read(thread, None).await?;
    let (found, known_status) = (loaded.found, loaded.status);
    let Some(stored) = found else { return Ok(None) };
    let graph = &thread.graph.0.graph.0;
    let (checkpoint, records) = (&stored.checkpoint, &stored.records);
    let tasks = read_tasks::<S, D>(graph, &thread.name, checkpoint, records);
    let tasks = tasks.map_err(|kind| thread.graph.refuse(kind))?;
    if tasks.is_empty() && known_status.kind != StatusKind::Failed {
        return Ok(None);
    }
    let next = tasks.iter().map(|(node, _)| Arc::clone(node)).collect();
    let (mut questions, mut failures, mut wakes_at) = (Vec::new(), Vec::new(), None);
    for (index, (node, known)) in tasks.into_iter().enumerate() {
        if known.result.is_some() {
            continue;
        }
        let later = known.sleeps.iter().filter_map(|(_, timer)| clock::from_millis(timer.pending()?));
        let retry_at = known.failure.as_ref().and_then(StoredFailure::retry_at);
        let later = later.chain(retry_at);
        wakes_at = wakes_at.into_iter().chain(later.filter(|time| *time > clock::now())).min();
        // An open question is newer than an earlier failure of its task.
        if known.questions.is_empty() && retry_at.is_none() {
            failures.extend(known.failure.map(TaskError::from));
        }
        questions.extend(known.questions.into_iter().map(|(id, question)| question.open(id, &node, index)));
    }
    let stopped = read_stopped(records);
    let gate = read_gate(records).filter(Gate::stands);
    let status = match (known_status.kind, gate) {
        (StatusKind::WaitingForAnswers, _) if !questions.is_empty() => {
            ThreadStatus::WaitingForAnswer(questions)
        }
        (StatusKind::AtBreakpoint, Some(gate)) => {
            ThreadStatus::AtBreakpoint { before: gate.before, after: gate.after }
        }
        (StatusKind::Running, _) => ThreadStatus::Running,
        (StatusKind::WaitingForTime, _) => ThreadStatus::WaitingForTime,
        (StatusKind::Stopped, _) => ThreadStatus::Stopped,
        (StatusKind::AtLimit, _) => ThreadStatus::AtLimit,
        (StatusKind::Failed, _) => ThreadStatus::Failed(failures),
        // An older version has written the thread, so the records have to tell.
        (_, gate) => match &stopped {
            Some(stopped) if stopped.told => ThreadStatus::Stopped,
            Some(_) if questions.is_empty() => ThreadStatus::WaitingForTime,
            _ if !failures.is_empty() => ThreadStatus::Failed(failures),
            _ if !questions.is_empty() => ThreadStatus::WaitingForAnswer(questions),
            _ => match gate {
                Some(gate) => ThreadStatus::AtBreakpoint { before: gate.before, after: gate.after },
                None => ThreadStatus::Running,
            },
        },
    };
    let wakes_at = match (known_status.kind, &status) {
        (_, ThreadStatus::Failed(_)) => None,
        // Its sleeps tell when the run goes on.
        (StatusKind::Running, _) => wakes_at,
        // A stopped run of an older version has stored its wake-up time in the record.
        (StatusKind::Unknown, _) => stopped.map_or(wakes_at, |stopped| stopped.wakes_at()),
        _ => known_status.wakes_at,
    };
    let (checkpoint, run_id) = (Some(checkpoint.id), Some(Arc::clone(&checkpoint.run.id)));
    // Whatever a resumption could not read is reported now.
    open::<S, D>(graph, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
    Ok(Some(UnfinishedThread { thread: thread.clone(), checkpoint, run_id, next, status, wakes_at }))
}
