//! A run that runs again what was planned at a checkpoint, as a new branch.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::checkpoint::CheckpointId;
use crate::engine::persist::{Begin, Opened as OpenedThread, open, under};
use crate::error::{Error, ErrorKind};
use crate::run::{About, Opened, Opening, Target};
use crate::state::GraphState;

use super::Thread;
use super::begin::{begin, ended_at, require, take_over, writer};
use super::input::planned_at;
use super::load::read;
use super::patience::Patience;
use super::run::{Again, OnThread};

impl<S: GraphState, D: Send + Sync + 'static> Target<S, D> for OnThread<S, D, Again<S>> {
    fn about(&self) -> About<'_> {
        self.begins_with("again")
    }

    async fn open(self, mut opening: Opening<S, D>) -> Result<Opened<S, D>, Error> {
        let Self { thread, mut at, run_id, on_conflict, how } = self;
        let mut enter = BTreeMap::new();
        if let Some((namespaces, checkpoint)) = &how.enter {
            at = Some(way_in(&thread, namespaces, *checkpoint, &mut enter).await?);
        }
        let mut patience = Patience::new(on_conflict, opening.options.stop.as_ref());
        loop {
            let mut loaded = read(&thread, at).await?;
            require(&thread, &loaded, at)?;
            let Some(stored) = loaded.found.take() else {
                return Err(thread.graph.refuse(ErrorKind::NoThread { thread: thread.name.to_string() }));
            };
            let compiled = Arc::clone(&thread.graph.0.graph.0);
            let opened: OpenedThread<S> =
                open(&compiled, &thread.name, stored).map_err(|kind| thread.graph.refuse(kind))?;
            if opened.is_at_rest(&compiled) {
                if how.update.is_some() {
                    let thread_name = thread.name.to_string();
                    return Err(thread.graph.refuse(ErrorKind::NothingToRun { thread: thread_name }));
                }
                return ended_at(&thread, opened, &opening);
            }
            if patience.waits() {
                let planned = planned_at(&read(&thread, None).await?);
                if !planned.is_empty() {
                    if patience.wait(&thread).await? {
                        continue;
                    }
                    let thread_name = thread.name.to_string();
                    return Err(thread.graph.refuse(ErrorKind::PendingTasks {
                        thread: thread_name,
                        at: None,
                        next: planned,
                    }));
                }
            }
            let fence = loaded.fence;
            let (persist, mut shared) = writer(&thread, loaded, run_id.clone(), &mut opening);
            shared.nest.goes_in(enter.clone());
            let driver = begin(opening.again(), persist, shared, Begin::Again(opened, how.update.clone()))?;
            match take_over(&thread, driver, patience.waits()).await {
                Err(error) if patience.tries_again(&thread, &error, fence).await? => {}
                begun => return begun,
            }
        }
    }
}

/// The checkpoint of the thread from which a checkpoint of a call is reached, and those of the calls on the way. The call is
/// stored in one of these namespaces.
async fn way_in<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    namespaces: &[Arc<str>],
    checkpoint: CheckpointId,
    enter: &mut BTreeMap<Arc<str>, CheckpointId>,
) -> Result<CheckpointId, Error> {
    let gone = |checkpoint| ErrorKind::NoCheckpoint { thread: thread.name.to_string(), checkpoint };
    let (mut namespaces, mut checkpoint) = (namespaces.to_vec(), checkpoint);
    let store = &thread.graph.0.store;
    loop {
        let mut found = None;
        for namespace in &namespaces {
            if namespace.is_empty() {
                return Ok(checkpoint);
            }
            let loaded = store.get(&thread.name, namespace, Some(checkpoint)).await;
            if let Some(stored) = loaded.map_err(|error| thread.graph.error(error))?.found {
                found = under(&stored.checkpoint).map(|within| (Arc::clone(namespace), within));
                break;
            }
        }
        let Some((namespace, within)) = found else { return Err(thread.graph.refuse(gone(checkpoint))) };
        namespaces = vec![Arc::from(namespace.rsplit_once('/').map_or("", |(outer, _)| outer))];
        enter.insert(namespace, checkpoint);
        checkpoint = within.checkpoint;
    }
}
