//! The common parts of starting a run on a thread.

use std::sync::Arc;

use crate::Outcome;
use crate::checkpoint::{CheckpointId, Loaded};
use crate::engine::persist::Persist;
use crate::engine::{
    AppContext, Driver, ErasedGraph, Journal, ParentRun, Program, RestoredCheckpoint, RunMetadata, RunShared,
    RunStart, own, rebuild, run_record,
};
use crate::erased::ErasedState;
use crate::error::{Error, ErrorKind};
use crate::run::{Opened, OpenedRun, Opening};
use crate::step::NodeRef;

use super::erased::ErasedThread;

/// The outcome of a run that has nothing to run.
pub(super) fn finished_outcome(
    thread: &ErasedThread,
    restored: RestoredCheckpoint,
    opening: &Opening,
) -> Result<Opened, Error> {
    let (step, mut state) = (restored.step(), restored.state);
    rebuilt(&mut state, &*opening.context).map_err(|kind| thread.graph.refuse(kind))?;
    Ok(Opened::Ended(step, Outcome::Done(state)))
}

/// Recomputes the untracked fields of a restored state that are made from the application context.
pub(super) fn rebuilt(state: &mut Arc<dyn ErasedState>, context: &dyn AppContext) -> Result<(), ErrorKind> {
    own(state).map_or(Ok(()), |state| rebuild(state, context))
}

/// Fails with `NoCheckpoint` if the requested checkpoint does not exist.
pub(super) fn require_checkpoint(
    thread: &ErasedThread,
    loaded: &Loaded,
    at: Option<CheckpointId>,
) -> Result<(), Error> {
    match (at, &loaded.found) {
        (Some(checkpoint), None) => {
            Err(thread.graph.refuse(ErrorKind::NoCheckpoint { thread: thread.name.to_string(), checkpoint }))
        }
        _ => Ok(()),
    }
}

fn origin(thread: &ErasedThread, loaded: &Loaded) -> Arc<str> {
    // A name that is reused after a deletion is a new thread, with a new origin.
    let fresh = || Arc::from(format!("{}@{}", thread.name, CheckpointId::after(None)));
    loaded.origin.clone().unwrap_or_else(fresh)
}

/// Returns the id of a run to which the caller has given none.
pub(super) fn fresh_run_id() -> Arc<str> {
    Arc::from(CheckpointId::after(None).to_string())
}

/// Creates the persistence of a run on the thread, and the values that its tasks share.
///
/// Fails if the id or the metadata of the run cannot be stored. Otherwise a run that is stored only at its end would
/// fail after all of its work.
pub(super) fn persistence(
    thread: &ErasedThread,
    loaded: Loaded,
    run_id: Option<Arc<str>>,
    opening: &mut Opening,
) -> Result<(Persist, RunShared), Error> {
    let shared = opening.shared(Some(Arc::clone(&thread.name)));
    let id = run_id.unwrap_or_else(fresh_run_id);
    let program = Program::of(&thread.graph.graph.0).text();
    let run = run_record(id, program, opening.metadata.clone());
    run.check_limits(&thread.name).map_err(|error| thread.graph.error(error))?;
    let journal = Journal::new(
        Arc::clone(&thread.graph.store),
        Arc::clone(&thread.name),
        Arc::from(""),
        origin(thread, &loaded),
        loaded.fence,
        opening.options.durability,
    );
    let mut persist = Persist::new(journal, run, loaded.fence.head);
    persist.set_running();
    let parent_run =
        ParentRun { parent_persistence: Some(persist.parent_persistence()), ..shared.parent_run };
    let metadata = RunMetadata::OfRecord(Arc::clone(&persist.run));
    let shared = RunShared { steps: Some(persist.steps()), parent_run, metadata, ..shared };
    Ok((persist, shared))
}

pub(super) fn start_driver(
    opening: Opening,
    persist: Persist,
    shared: RunShared,
    start: RunStart,
) -> Result<Driver, Error> {
    let Opening { graph, context, options, events, .. } = opening;
    Driver::on_thread(Arc::clone(&graph.0), context, shared, options, events, persist, start)
}

/// Makes the first writes of a run durable, after which the run owns the thread.
///
/// With `visible`, the first checkpoint is stored whatever the durability, so that other writers see the run.
pub(super) async fn take_over(
    thread: &ErasedThread,
    mut driver: Driver,
    visible: bool,
) -> Result<Opened, Error> {
    driver.claim(visible).await?;
    driver.watch(&thread.graph.abandoned);
    Ok(Opened::Started(OpenedRun(Box::new(driver))))
}

/// Finds the index of a node in the graph.
pub(super) fn find_node(graph: &ErasedGraph, node: &NodeRef) -> Result<usize, Error> {
    known_node(graph, node).map_err(|reason| {
        Error::new(&graph.0.name, ErrorKind::InvalidAsNode { node: node.name().to_owned(), reason })
    })
}

/// Finds the index of a node in the graph. The error lists the nodes of the graph.
pub(super) fn known_node(graph: &ErasedGraph, node: &NodeRef) -> Result<usize, String> {
    let found = match node {
        NodeRef::Named(name) => graph.0.find(name),
        node => graph.0.indices.get(node).copied(),
    };
    found.ok_or_else(|| {
        let names = graph.0.names.iter().map(|name| format!("`{name}`"));
        format!("the graph has no such node, but {}", listed(names.collect()))
    })
}

/// Lists names for an error.
pub(super) fn listed(names: Vec<String>) -> String {
    const SHOWN: usize = 32;
    let rest = names.len().saturating_sub(SHOWN);
    let shown = names.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    if rest == 0 { shown } else { format!("{shown} and {rest} more") }
}
