//! Opens a run that repeats the superstep planned at a checkpoint, on a new branch (replay).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::engine::{RestoredCheckpoint, RunStart, open, parent_task};
use crate::erased::TaskWrites;
use crate::error::{Error, ErrorKind};
use crate::run::{Opened, Opening};

use super::conflict_wait::ConflictWait;
use super::erased::{ErasedThread, OnErasedThread};
use super::load::read;
use super::start_run::{finished_outcome, persistence, require_checkpoint, start_driver, take_over};
use super::with_input::{pending_tasks, planned_nodes};

/// Opens a run that repeats the superstep planned at a checkpoint.
pub(super) async fn open_again(
    on: OnErasedThread,
    update: Option<TaskWrites>,
    within: Option<(Vec<Arc<str>>, CheckpointId)>,
    mut opening: Opening,
) -> Result<Opened, Error> {
    let OnErasedThread { thread, mut at, run_id, on_conflict, expected } = on;
    let mut enter = BTreeMap::new();
    if let Some((namespaces, checkpoint)) = &within {
        at = Some(find_root_checkpoint(&thread, namespaces, *checkpoint, &mut enter).await?);
    }
    let mut conflict_wait = ConflictWait::new(on_conflict, opening.options.stop.as_ref());
    loop {
        let mut loaded = read(&thread, at).await?;
        require_checkpoint(&thread, &loaded, at)?;
        expected.check(&thread, loaded.fence)?;
        let Some(stored) = loaded.found.take() else {
            return Err(thread.graph.refuse(ErrorKind::NoThread { thread: thread.name.to_string() }));
        };
        let compiled = Arc::clone(&thread.graph.graph.0);
        let mut restored: RestoredCheckpoint =
            open(&compiled, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
        restored.enter = enter.clone();
        if restored.is_finished(&compiled) {
            if update.is_some() {
                let thread_name = thread.name.to_string();
                return Err(thread.graph.refuse(ErrorKind::NothingToRun { thread: thread_name }));
            }
            return finished_outcome(&thread, restored, &opening);
        }
        if conflict_wait.is_allowed() {
            let head = read(&thread, None).await?;
            if !planned_nodes(&head).is_empty() {
                if conflict_wait.wait_briefly(&thread).await? {
                    continue;
                }
                return Err(thread.graph.refuse(pending_tasks(&thread, None, &head)));
            }
        }
        let fence = loaded.fence;
        let (persist, shared) = persistence(&thread, loaded, run_id.clone(), &mut opening)?;
        let driver =
            start_driver(opening.again(), persist, shared, RunStart::Replay(restored, update.clone()))?;
        match take_over(&thread, driver, conflict_wait.is_allowed()).await {
            Err(error) if conflict_wait.retries_after(&thread, &error, fence).await? => {}
            begun => return begun,
        }
    }
}

/// Finds the checkpoint of the thread under which a checkpoint of a subgraph call was made.
///
/// Adds the checkpoints of the calls in between to `enter`. The call is stored in one of `namespaces`.
async fn find_root_checkpoint(
    thread: &ErasedThread,
    namespaces: &[Arc<str>],
    checkpoint: CheckpointId,
    enter: &mut BTreeMap<String, CheckpointId>,
) -> Result<CheckpointId, Error> {
    let no_checkpoint = |checkpoint| ErrorKind::NoCheckpoint { thread: thread.name.to_string(), checkpoint };
    let (mut namespaces, mut checkpoint) = (namespaces.to_vec(), checkpoint);
    let store = &thread.graph.store;
    loop {
        let mut found = None;
        for namespace in &namespaces {
            if namespace.is_empty() {
                return Ok(checkpoint);
            }
            let loaded = store.get(&thread.name, namespace, Some(checkpoint)).await;
            if let Some(stored) = loaded.map_err(|error| thread.graph.error(error))?.found {
                let parent = parent_task(&thread.name, &stored.checkpoint);
                let parent = parent.map_err(|kind| thread.graph.refuse(kind))?;
                found = parent.map(|parent| (Arc::clone(namespace), parent));
                break;
            }
        }
        let Some((namespace, parent)) = found else {
            return Err(thread.graph.refuse(no_checkpoint(checkpoint)));
        };
        namespaces = vec![Arc::from(namespace.rsplit_once('/').map_or("", |(outer, _)| outer))];
        enter.insert(namespace.to_string(), checkpoint);
        checkpoint = parent.state_at();
    }
}
