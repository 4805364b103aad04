//! Opens a run that starts with an input.

use crate::checkpoint::{CheckpointId, Loaded};
use crate::engine::{RunStart, open_state, planned, read_tasks};
use crate::erased::ErasedInput;
use crate::error::{AwaitedAnswer, Error, ErrorKind, UnfinishedSuperstep};
use crate::run::{Opened, Opening};

use super::conflict_wait::ConflictWait;
use super::erased::{ErasedThread, OnErasedThread};
use super::find_run::find_run;
use super::load::read;
use super::resuming::take_up;
use super::start_run::{persistence, require_checkpoint, start_driver, take_over};

/// Opens a run that starts with an input.
pub(super) async fn open_with_input(
    on: OnErasedThread,
    mut input: Box<dyn ErasedInput>,
    abandon_pending: bool,
    mut opening: Opening,
) -> Result<Opened, Error> {
    let OnErasedThread { thread, at, run_id, on_conflict, expected } = on;
    let abandon = abandon_pending || thread.graph.abandon_pending;
    let mut conflict_wait = ConflictWait::new(on_conflict, opening.options.stop.as_ref());
    loop {
        let mut loaded = read(&thread, at).await?;
        require_checkpoint(&thread, &loaded, at)?;
        // This follows the read of the thread: if another writer starts the same id now, our first write is refused.
        if let Some(id) = &run_id
            && let Some(found) = find_run(&thread, id, None, &*opening.context).await?
        {
            match take_up(&thread, found, expected, &mut opening, &mut conflict_wait).await? {
                Some(opened) => return Ok(opened),
                None => continue,
            }
        }
        expected.check(&thread, loaded.fence)?;
        if !abandon && let Some(pending) = find_pending(&thread, at, &loaded, &conflict_wait).await? {
            // A checkpoint never changes, so waiting for it is useless.
            let permanent = at.is_some() && !planned_nodes(&loaded).is_empty();
            if !permanent && conflict_wait.wait_briefly(&thread).await? {
                continue;
            }
            let pending = pending.as_ref().unwrap_or(&loaded);
            return Err(thread.graph.refuse(pending_tasks(&thread, at.filter(|_| permanent), pending)));
        }
        let fence = loaded.fence;
        let restored = loaded.found.take().map(|stored| {
            open_state(&thread.graph.graph.0, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))
        });
        let restored = restored.transpose()?;
        // Another attempt prepares the input again, because superstep and state may differ by then.
        let input_copy = (abandon || run_id.is_some() || conflict_wait.is_allowed()).then(|| input.copied());
        let (persist, shared) = persistence(&thread, loaded, run_id.clone(), &mut opening)?;
        let driver = start_driver(opening.again(), persist, shared, RunStart::Input(input, restored))?;
        let error = match take_over(&thread, driver, conflict_wait.is_allowed()).await {
            Ok(begun) => return Ok(begun),
            Err(error) => error,
        };
        let Some(input_copy) = input_copy else { return Err(error) };
        let again = match &run_id {
            Some(_) => conflict_wait.retries_start_after(&thread, &error, fence).await?,
            None => conflict_wait.retries_after(&thread, &error, fence).await?,
        };
        if !again {
            return Err(error);
        }
        input = input_copy;
    }
}

/// Looks for pending tasks where the run starts, and, if the run may wait, at the thread's head. Returns `None` if there
/// are none, and otherwise the head if they are there.
async fn find_pending(
    thread: &ErasedThread,
    at: Option<CheckpointId>,
    loaded: &Loaded,
    conflict_wait: &ConflictWait,
) -> Result<Option<Option<Loaded>>, Error> {
    if !planned_nodes(loaded).is_empty() {
        return Ok(Some(None));
    }
    if at.is_none() || !conflict_wait.is_allowed() {
        return Ok(None);
    }
    let head = read(thread, None).await?;
    Ok((!planned_nodes(&head).is_empty()).then_some(Some(head)))
}

/// Returns the error for the pending tasks of the loaded checkpoint. With `at`, all tasks that were planned there count
/// as pending, because a replay runs all of them.
pub(super) fn pending_tasks(thread: &ErasedThread, at: Option<CheckpointId>, loaded: &Loaded) -> ErrorKind {
    let (mut pending, mut superstep) = (Vec::new(), Box::<UnfinishedSuperstep>::default());
    let stored = loaded.found.as_ref();
    let tasks = stored
        .map(|stored| read_tasks(&thread.graph.graph.0, &thread.name, &stored.checkpoint, &stored.records));
    match tasks {
        Some(Ok(tasks)) => {
            for (node, task_progress) in tasks {
                let node = node.to_string();
                let open = task_progress.questions.iter();
                superstep.waiting.extend(open.map(|open| AwaitedAnswer::new(&*node, &*open.id, &*open.name)));
                let to = if task_progress.result.is_some() && at.is_none() {
                    &mut superstep.finished
                } else {
                    &mut pending
                };
                to.push(node);
            }
        }
        // Records that cannot be read are reported by the run that needs them.
        _ => pending = planned_nodes(loaded),
    }
    ErrorKind::PendingTasks { thread: thread.name.to_string(), at, pending, superstep }
}

/// Returns the nodes planned at the loaded checkpoint, including those that a resumption added.
pub(super) fn planned_nodes(loaded: &Loaded) -> Vec<String> {
    let Some(found) = &loaded.found else { return Vec::new() };
    planned(&found.checkpoint, &found.records).iter().map(ToString::to_string).collect()
}
