//! Finds the result of a run by its id.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, CheckpointQuery, Loaded, RecordKind};
use crate::engine::persist::{Gate, Known, Opened as OpenedThread, StoredFailure, open, read_stopped};
use crate::engine::{AppContext, clock, not_filled};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Pause;
use crate::run::{ErasedOutcome, Outcome};

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
    /// The thread as it was read, without the checkpoint that is now in `opened`.
    pub(super) loaded: Loaded,
    pub(super) opened: OpenedThread,
}

impl UnfinishedRun {
    /// Returns `true` if the run may still be running: it has stored no final failure.
    pub(super) fn may_be_running(&self) -> bool {
        let failed = |known: &Known| known.failure.as_ref().is_some_and(StoredFailure::is_final);
        !self.opened.known.iter().any(failed)
    }
}

/// Finds the run with this id, or `None` if the thread has stored none.
///
/// # Errors
/// The error of the run, if continuing cannot change it. `RunAbandoned` if another run or update took its place.
pub(super) async fn find_run(
    thread: &ErasedThread,
    id: &Arc<str>,
    context: &dyn AppContext,
) -> Result<Option<FoundRun>, Error> {
    let compiled = &thread.graph.graph.0;
    let refuse = |kind| thread.graph.refuse(kind);
    let mut seen = None;
    loop {
        let Some(last) = newest_checkpoint(thread, id).await? else { return Ok(None) };
        let mut loaded = read(thread, Some(last)).await?;
        let Some(mut stored) = loaded.found.take() else {
            let name = thread.name.to_string();
            return Err(refuse(ErrorKind::NoCheckpoint { thread: name, checkpoint: last }));
        };
        let complete = stored.checkpoint.next.is_empty();
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
        let mut opened = open(compiled, &thread.name, stored).map_err(refuse)?;
        let has_stopped_here = !complete && has_stopped(&opened);
        if !complete && !has_stopped_here {
            return Ok(Some(FoundRun::Unfinished(Box::new(UnfinishedRun { loaded, opened }))));
        }
        let step = opened.step();
        let pause = pause(thread, &mut opened);
        let mut state = opened.state;
        rebuilt(&mut state, context).map_err(refuse)?;
        if has_stopped_here {
            return Ok(Some(FoundRun::Ended(step, Outcome::Interrupted(pause.with_state(state)))));
        }
        return match not_filled(compiled, &opened.progress) {
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
fn has_stopped(opened: &OpenedThread) -> bool {
    let patched = opened.records.iter().any(|record| record.key.kind == RecordKind::Patch);
    let stopped = read_stopped(&opened.records);
    let awake = stopped.and_then(|stopped| stopped.wakes_at()).is_some_and(|time| time <= clock::now());
    if opened.input.is_some() || patched || awake {
        return false;
    }
    let asks = |known: &Known| !known.questions.is_empty();
    let known = &opened.known;
    let asked = known.iter().any(asks) && known.iter().all(|known| known.result.is_some() || asks(known));
    let added = opened.tasks.len() > opened.checkpoint.next.len();
    let gate = opened.gate.as_ref().is_some_and(Gate::stands);
    asked || (gate && !added && known.iter().all(Known::is_nothing))
}

/// Builds the pause of a run that has stopped.
fn pause(thread: &ErasedThread, opened: &mut OpenedThread) -> Pause<()> {
    let mut pause = Pause::empty();
    for (index, (task, known)) in opened.tasks.iter().zip(&mut opened.known).enumerate() {
        let node = thread.graph.graph.0.node_name(task.node);
        let open = std::mem::take(&mut known.questions).into_iter();
        pause.interrupts.extend(open.map(|(id, question)| question.open(id, node, index)));
        pause.next.push(node.to_owned());
    }
    let gate = opened.gate.take().filter(|_| pause.interrupts.is_empty()).unwrap_or_default();
    (pause.before, pause.after) = (gate.before, gate.after);
    pause.wakes_at = read_stopped(&opened.records).and_then(|stopped| stopped.wakes_at());
    pause
}
