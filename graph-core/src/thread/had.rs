//! What has become of a run of an id.

use std::sync::Arc;

use crate::checkpoint::{CheckpointId, CheckpointQuery, Loaded, RecordKind};
use crate::engine::persist::{Gate, Known, Opened as OpenedThread, StoredFailure, open, read_stopped};
use crate::engine::{clock, not_filled, rebuild};
use crate::error::{Error, ErrorKind};
use crate::interrupt::Pause;
use crate::run::Outcome;
use crate::state::GraphState;

use super::Thread;
use super::load::read;

/// What a thread has had of a run.
pub(super) enum Had<S: GraphState> {
    /// It has come to this, after so many supersteps.
    Ended(u64, Outcome<S>),
    /// Something of it is left to run, and it is what the thread is at.
    Left(Box<Left<S>>),
}

/// A run that goes on.
pub(super) struct Left<S: GraphState> {
    /// The thread as it was read, without what is opened.
    pub(super) loaded: Loaded,
    pub(super) opened: OpenedThread<S>,
}

impl<S: GraphState> Left<S> {
    /// Whether it may be running: it has not said how it has failed.
    pub(super) fn may_run(&self) -> bool {
        let failed = |known: &Known<S>| known.failure.as_ref().is_some_and(StoredFailure::is_final);
        !self.opened.known.iter().any(failed)
    }
}

/// What the thread has had of the run of this id; nothing, if there was none.
///
/// # Errors
/// What the run has ended with, if that is not to be mended by going on; and that it was given up for another one.
pub(super) async fn had<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    id: &Arc<str>,
    context: &D,
) -> Result<Option<Had<S>>, Error> {
    let compiled = &thread.graph.0.graph.0;
    let refuse = |kind| thread.graph.refuse(kind);
    let mut before = None;
    loop {
        let Some(last) = last(thread, id).await? else { return Ok(None) };
        let mut loaded = read(thread, Some(last)).await?;
        let Some(mut stored) = loaded.found.take() else {
            let name = thread.name.to_string();
            return Err(refuse(ErrorKind::NoCheckpoint { thread: name, checkpoint: last }));
        };
        let complete = stored.checkpoint.next.is_empty();
        if complete {
            // What else is known there came with a resumption, which is a run of its own.
            stored.records.clear();
        } else if loaded.fence.head != Some(last) {
            if before == Some(last) {
                let (thread, run) = (thread.name.to_string(), id.to_string());
                return Err(refuse(ErrorKind::RunAbandoned { thread, run, checkpoint: last }));
            }
            // It may have gone on between the two readings.
            before = Some(last);
            continue;
        }
        let mut opened = open(compiled, &thread.name, stored).map_err(refuse)?;
        let stops = !complete && has_stopped(&opened);
        if !complete && !stops {
            return Ok(Some(Had::Left(Box::new(Left { loaded, opened }))));
        }
        let step = opened.step();
        let pause = pause(thread, &mut opened);
        let mut state = opened.state;
        rebuild(&mut state, context).map_err(refuse)?;
        if stops {
            return Ok(Some(Had::Ended(step, Outcome::Interrupted(pause.with_state(state)))));
        }
        return match not_filled(compiled, &opened.progress) {
            Some(kind) => Err(refuse(kind).with_state(Arc::new(state))),
            None => Ok(Some(Had::Ended(step, Outcome::Done(state)))),
        };
    }
}

/// The newest checkpoint of a run.
async fn last<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    id: &Arc<str>,
) -> Result<Option<CheckpointId>, Error> {
    let (name, run) = (Arc::clone(&thread.name), Some(Arc::clone(id)));
    let query = CheckpointQuery { thread: name, run, limit: Some(1), ..CheckpointQuery::default() };
    let page = thread.graph.0.store.list(query).await.map_err(|error| thread.graph.error(error))?;
    Ok(page.items.first().map(|last| last.id))
}

/// Whether a run has stopped here, at questions or at breakpoints, and nothing has come since.
fn has_stopped<S: GraphState>(opened: &OpenedThread<S>) -> bool {
    let patched = opened.records.iter().any(|record| record.key.kind == RecordKind::Patch);
    let stopped = read_stopped(&opened.records);
    let awake = stopped.and_then(|stopped| stopped.wakes_at()).is_some_and(|time| time <= clock::now());
    if opened.input.is_some() || patched || awake {
        return false;
    }
    let asks = |known: &Known<S>| !known.questions.is_empty();
    let known = &opened.known;
    let asked = known.iter().any(asks) && known.iter().all(|known| known.result.is_some() || asks(known));
    let added = opened.tasks.len() > opened.checkpoint.next.len();
    let gate = opened.gate.as_ref().is_some_and(Gate::stands);
    asked || (gate && !added && known.iter().all(Known::is_nothing))
}

/// What a run that has stopped waits for.
fn pause<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    opened: &mut OpenedThread<S>,
) -> Pause<()> {
    let mut pause = Pause::nothing();
    for (index, (task, known)) in opened.tasks.iter().zip(&mut opened.known).enumerate() {
        let node = thread.graph.0.graph.0.node_name(task.node);
        let open = std::mem::take(&mut known.questions).into_iter();
        pause.interrupts.extend(open.map(|(id, question)| question.open(id, node, index)));
        pause.next.push(node.to_owned());
    }
    let gate = opened.gate.take().filter(|_| pause.interrupts.is_empty()).unwrap_or_default();
    (pause.before, pause.after) = (gate.before, gate.after);
    pause.wakes_at = read_stopped(&opened.records).and_then(|stopped| stopped.wakes_at());
    pause
}
