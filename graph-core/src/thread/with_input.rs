//! Opens a run that starts with an input.

use crate::checkpoint::{CheckpointId, Loaded};
use crate::engine::persist::{Begin, GoOn, open_state, planned};
use crate::error::{Error, ErrorKind};
use crate::run::{About, Opened, Opening, Target};
use crate::state::GraphState;

use super::Thread;
use super::conflict_wait::ConflictWait;
use super::find_run::{FoundRun, UnfinishedRun, find_run};
use super::load::read;
use super::resuming::resume;
use super::run::{OnThread, WithInput};
use super::start_run::{persistence, require_checkpoint, start_driver, take_over};

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for OnThread<S, D, WithInput<S>> {
    fn about(&self) -> About<'_> {
        self.begins_with("input")
    }

    async fn open(self, mut opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let Self { thread, at, run_id, on_conflict, how } = self;
        let WithInput { mut input, abandon_pending } = how;
        let abandon = abandon_pending || thread.graph.0.abandon_pending;
        let mut conflict_wait = ConflictWait::new(on_conflict, opening.options.stop.as_ref());
        loop {
            let mut loaded = read(&thread, at).await?;
            require_checkpoint(&thread, &loaded, at)?;
            // This follows the read of the thread: if another writer starts the same id now, our first write is refused.
            if let Some(id) = &run_id
                && let Some(found) = find_run(&thread, id, &opening.context).await?
            {
                let unfinished = match found {
                    FoundRun::Ended(step, outcome) => return Ok(Opened::Ended(step, outcome)),
                    FoundRun::Unfinished(unfinished) => unfinished,
                };
                // Another process may still be running it, so wait as long as the options allow.
                let orphan = thread.graph.0.orphans.has(&thread.name, id, unfinished.loaded.fence.epoch);
                if unfinished.may_be_running() && !orphan && conflict_wait.wait_briefly(&thread).await? {
                    continue;
                }
                let UnfinishedRun { loaded, opened } = *unfinished;
                let (fence, go_on) = (loaded.fence, GoOn::at(opened));
                match resume(&thread, loaded, go_on, &mut opening, &conflict_wait).await {
                    Err(error) if conflict_wait.retries_after(&thread, &error, fence).await? => continue,
                    begun => return begun,
                }
            }
            if !abandon && let Some(planned) = pending_nodes(&thread, at, &loaded, &conflict_wait).await? {
                // A checkpoint never changes, so waiting for it is useless.
                let permanent = at.is_some() && !planned_nodes(&loaded).is_empty();
                if !permanent && conflict_wait.wait_briefly(&thread).await? {
                    continue;
                }
                let (thread_name, at) = (thread.name.to_string(), at.filter(|_| permanent));
                return Err(thread.graph.refuse(ErrorKind::PendingTasks {
                    thread: thread_name,
                    at,
                    next: planned,
                }));
            }
            let fence = loaded.fence;
            let opened = loaded.found.take().map(|stored| {
                open_state(&thread.graph.0.graph.0, &thread.name, stored)
                    .map_err(|kind| thread.graph.refuse(kind))
            });
            let opened = opened.transpose()?;
            // Another attempt prepares the input again, because superstep and state may differ by then.
            let input_copy =
                (abandon || run_id.is_some() || conflict_wait.is_allowed()).then(|| input.clone());
            let (persist, shared) = persistence(&thread, loaded, run_id.clone(), &mut opening)?;
            let driver = start_driver(opening.again(), persist, shared, Begin::Input(input, opened))?;
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
}

/// Returns the nodes of the pending tasks, or `None`: those of the checkpoint where the run starts, and, if the run may
/// wait, those of the thread's head.
async fn pending_nodes<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    at: Option<CheckpointId>,
    loaded: &Loaded,
    conflict_wait: &ConflictWait,
) -> Result<Option<Vec<String>>, Error> {
    let mut planned = planned_nodes(loaded);
    if planned.is_empty() && at.is_some() && conflict_wait.is_allowed() {
        planned = planned_nodes(&read(thread, None).await?);
    }
    Ok((!planned.is_empty()).then_some(planned))
}

/// Returns the nodes planned at the loaded checkpoint, including those that a resumption added.
pub(super) fn planned_nodes(loaded: &Loaded) -> Vec<String> {
    let Some(found) = &loaded.found else { return Vec::new() };
    planned(&found.checkpoint, &found.records).iter().map(ToString::to_string).collect()
}
