//! A run that begins with an input.

use crate::checkpoint::{CheckpointId, Loaded};
use crate::engine::persist::{Begin, GoOn, open_state, planned};
use crate::error::{Error, ErrorKind};
use crate::run::{About, Opened, Opening, Target};
use crate::state::GraphState;

use super::Thread;
use super::begin::{begin, require, take_over, writer};
use super::had::{Had, Left, had};
use super::load::read;
use super::patience::Patience;
use super::resuming::resume;
use super::run::{OnThread, WithInput};

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for OnThread<S, D, WithInput<S>> {
    fn about(&self) -> About<'_> {
        self.begins_with("input")
    }

    async fn open(self, mut opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let Self { thread, at, run_id, on_conflict, how } = self;
        let WithInput { mut input, abandon_pending } = how;
        let abandon = abandon_pending || thread.graph.0.abandon_pending;
        let mut patience = Patience::new(on_conflict, opening.options.stop.as_ref());
        loop {
            let mut loaded = read(&thread, at).await?;
            require(&thread, &loaded, at)?;
            // Asked once the thread has been read: should the id be had meanwhile, the first write is refused.
            if let Some(id) = &run_id
                && let Some(had) = had(&thread, id, &opening.context).await?
            {
                let left = match had {
                    Had::Ended(step, outcome) => return Ok(Opened::Ended(step, outcome)),
                    Had::Left(left) => left,
                };
                // Somebody else may be at it, and is not to be disturbed as long as this one can wait.
                let orphan = thread.graph.0.orphans.has(&thread.name, id, left.loaded.fence.epoch);
                if left.may_run() && !orphan && patience.wait(&thread).await? {
                    continue;
                }
                let Left { loaded, opened } = *left;
                let (fence, go_on) = (loaded.fence, GoOn::at(opened));
                match resume(&thread, loaded, go_on, &mut opening, &patience).await {
                    Err(error) if patience.tries_again(&thread, &error, fence).await? => continue,
                    begun => return begun,
                }
            }
            if !abandon && let Some(planned) = is_left(&thread, at, &loaded, &patience).await? {
                // An old checkpoint will never be another.
                let for_good = at.is_some() && !planned_at(&loaded).is_empty();
                if !for_good && patience.wait(&thread).await? {
                    continue;
                }
                let (thread_name, at) = (thread.name.to_string(), at.filter(|_| for_good));
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
            // For another try it is prepared anew: it then comes to another superstep, and to another state.
            let kept = (abandon || run_id.is_some() || patience.waits()).then(|| input.clone());
            let (persist, shared) = writer(&thread, loaded, run_id.clone(), &mut opening);
            let driver = begin(opening.again(), persist, shared, Begin::Input(input, opened))?;
            let error = match take_over(&thread, driver, patience.waits()).await {
                Ok(begun) => return Ok(begun),
                Err(error) => error,
            };
            let Some(kept) = kept else { return Err(error) };
            let again = match &run_id {
                Some(_) => patience.begins_again(&thread, &error, fence).await?,
                None => patience.tries_again(&thread, &error, fence).await?,
            };
            if !again {
                return Err(error);
            }
            input = kept;
        }
    }
}

/// What is left to run, if anything is: at the checkpoint that the run begins at, and where the thread is, if it waits.
async fn is_left<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    at: Option<CheckpointId>,
    loaded: &Loaded,
    patience: &Patience,
) -> Result<Option<Vec<String>>, Error> {
    let mut planned = planned_at(loaded);
    if planned.is_empty() && at.is_some() && patience.waits() {
        planned = planned_at(&read(thread, None).await?);
    }
    Ok((!planned.is_empty()).then_some(planned))
}

/// The nodes that are planned where a thread is, also those that a resumption has added.
pub(super) fn planned_at(loaded: &Loaded) -> Vec<String> {
    let Some(found) = &loaded.found else { return Vec::new() };
    planned(&found.checkpoint, &found.records).iter().map(ToString::to_string).collect()
}
