//! Finds the result of a run by its id.

use std::sync::Arc;

use crate::Outcome;
use crate::checkpoint::{CheckpointId, CheckpointQuery, Loaded, RecordKind, StatusKind, StoredStatus};
use crate::engine::{
    AppContext, RestoredCheckpoint, Stopped, StoredBreakpoints, StoredFailure, TaskProgress, Waiting,
    not_filled, open,
};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Pause;
use crate::options::clock;
use crate::run::ErasedOutcome;

use super::erased::ErasedThread;
use super::load::read;
use super::start_run::rebuilt;

/// A run that the thread has stored.
pub(super) enum FoundRun {
    /// The run has an outcome; with the number of its last superstep.
    Ended(u64, ErasedOutcome),
    /// The run has pending tasks, and its newest checkpoint is the thread's head.
    Unfinished(Box<UnfinishedRun>),
}

/// A run with pending tasks.
pub(super) struct UnfinishedRun {
    /// The thread as it was read, without the checkpoint that is now in `restored`.
    pub(super) loaded: Loaded,
    pub(super) restored: RestoredCheckpoint,
}

impl UnfinishedRun {
    /// Returns `true` if the run may still be running: it has stored no final failure.
    pub(super) fn may_be_running(&self) -> bool {
        let failed = |task_progress: &TaskProgress| {
            task_progress.failure.as_ref().is_some_and(StoredFailure::is_final)
        };
        !self.restored.task_progress.iter().any(failed)
    }
}

/// Finds the run with this id, or `None` if the thread has stored none.
///
/// A request may have added the first tasks of the run at a final checkpoint of an earlier run: `added_at`.
///
/// # Errors
/// The error of the run, if continuing cannot change it. `RunAbandoned` if another run or update took its place.
pub(super) async fn find_run(
    thread: &ErasedThread,
    id: &Arc<str>,
    added_at: Option<CheckpointId>,
    context: &dyn AppContext,
) -> Result<Option<FoundRun>, Error> {
    let compiled = &thread.graph.graph.0;
    let refuse = |kind| thread.graph.refuse(kind);
    let mut seen = None;
    loop {
        let Some(last) = newest_checkpoint(thread, id).await?.max(added_at) else { return Ok(None) };
        let mut loaded = read(thread, Some(last)).await?;
        let Some(mut stored) = loaded.found.take() else {
            let name = thread.name.to_string();
            return Err(refuse(ErrorKind::NoCheckpoint { thread: name, checkpoint: last }));
        };
        let complete = stored.checkpoint.next.is_empty() && added_at != Some(last);
        if complete {
            // Records at a final checkpoint came with a later resumption, which is another run.
            stored.records.clear();
        } else if loaded.fence.head != Some(last) {
            if seen == Some(last) {
                let (thread, run) = (thread.name.to_string(), id.to_string());
                return Err(refuse(ErrorKind::RunAbandoned { thread, run, checkpoint: last }));
            }
            // The run may have continued between the two reads.
            seen = Some(last);
            continue;
        }
        let mut restored = open(compiled, &thread.name, stored).map_err(refuse)?;
        let has_stopped_here = !complete && has_stopped(loaded.status, &restored);
        if !complete && !has_stopped_here {
            return Ok(Some(FoundRun::Unfinished(Box::new(UnfinishedRun { loaded, restored }))));
        }
        let step = restored.step();
        // A stop request is over with the process to which it was made.
        let pause = Pause { stopped: false, ..Waiting::of(compiled, &mut restored).into_pause() };
        let mut state = restored.state;
        rebuilt(&mut state, context).map_err(refuse)?;
        if has_stopped_here {
            return Ok(Some(FoundRun::Ended(step, Outcome::Interrupted(pause.with_state(state)))));
        }
        return match not_filled(compiled, &restored.progress) {
            Some(kind) => Err(refuse(kind).with_state(state)),
            None => Ok(Some(FoundRun::Ended(step, Outcome::Done(state)))),
        };
    }
}

/// Finds the newest checkpoint of a run.
async fn newest_checkpoint(thread: &ErasedThread, id: &Arc<str>) -> Result<Option<CheckpointId>, Error> {
    let query = CheckpointQuery::new(Arc::clone(&thread.name)).run(Arc::clone(id)).limit(1);
    let page = thread.graph.store.list(query).await.map_err(|error| thread.graph.error(error))?;
    Ok(page.items.first().map(|last| last.id))
}

/// Returns `true` if a run has stopped at questions or breakpoints, and nothing has changed since.
///
/// The status tells this: each run and each update that continues the thread sets it. If a run has accepted an answer
/// and died, the thread may still have other open questions.
fn has_stopped(status: StoredStatus, restored: &RestoredCheckpoint) -> bool {
    match status.kind {
        StatusKind::WaitingForAnswer | StatusKind::AtBreakpoint => !status.is_due(clock::now()),
        // A stop request is over, so the questions of the thread count. An older version has stored no status.
        StatusKind::Stopped | StatusKind::Unknown => waits_only(restored),
        _ => false,
    }
}

/// Returns `true` if the records of a checkpoint show that all tasks left to run ask questions, or that the thread is at
/// a breakpoint.
fn waits_only(restored: &RestoredCheckpoint) -> bool {
    let patched = restored.records.iter().any(|record| record.key.kind == RecordKind::Patch);
    let wakes_at = restored.stopped.as_ref().and_then(Stopped::wakes_at);
    let awake = wakes_at.is_some_and(|time| time <= clock::now());
    if restored.input.is_some() || patched || awake {
        return false;
    }
    let asks = |task_progress: &TaskProgress| !task_progress.questions.is_empty();
    let task_progress = &restored.task_progress;
    let asked = task_progress.iter().any(asks)
        && task_progress.iter().all(|task_progress| task_progress.result.is_some() || asks(task_progress));
    let added = restored.tasks.len() > restored.checkpoint.next.len();
    let breakpoints = restored.breakpoints.as_ref().is_some_and(StoredBreakpoints::are_current);
    asked || (breakpoints && !added && task_progress.iter().all(TaskProgress::is_nothing))
}
