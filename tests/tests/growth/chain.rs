//! A graph that runs any number of supersteps, one after the other.

use superstep::thread::{PersistentGraph, Thread};
use superstep::{END, Graph, GraphState, Route, START, StateGraph};

use super::measure::Sample;

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Chain {
    #[state(input)]
    pub(crate) length: usize,
    #[state(reducer = add)]
    pub(crate) count: usize,
    #[state(input, reducer = append)]
    pub(crate) lines: Vec<usize>,
}

#[derive(Route)]
pub(crate) enum Next {
    #[to(link)]
    Again,
    #[to(END)]
    Out,
}

pub(crate) async fn link(chain: &Chain) -> (ChainUpdate, Next) {
    let next = if chain.count + 1 < chain.length { Next::Again } else { Next::Out };
    (Chain::update().count(1_usize), next)
}

pub(crate) fn graph() -> Graph<Chain> {
    StateGraph::<Chain>::new().edge(START, link).compile().unwrap()
}

pub(crate) fn stored(at: &Sample) -> PersistentGraph<Chain> {
    graph().with_checkpointer(at.store())
}

/// A thread with a run of `n` supersteps.
pub(crate) async fn long(at: &Sample) -> Thread<Chain> {
    let thread = stored(at).thread("t");
    thread.run(Chain::input(at.n)).recursion_limit(at.n as u64).await.unwrap();
    thread
}

/// A thread with `n` updates of a state of constant size.
pub(crate) async fn filled(at: &Sample) -> Thread<Chain> {
    let thread = stored(at).thread("t");
    let first = Chain::update().length(1).lines(0..200);
    thread.update(first, superstep::thread::as_node(START)).await.unwrap();
    let updates = (0..at.n).map(|_| [(Chain::update().count(1_usize), superstep::thread::as_node(START))]);
    thread.bulk_update(updates).await.unwrap();
    thread
}

/// A thread of `n` short runs, each with its own id.
pub(crate) async fn many_runs(at: &Sample) -> Thread<Chain> {
    let thread = stored(at).thread("t");
    for run in 0..at.n {
        thread.run(Chain::input(0)).run_id(run.to_string()).await.unwrap();
    }
    thread
}

/// A thread with `n` branches, each an update of its first checkpoint.
pub(crate) async fn branched(at: &Sample) -> Thread<Chain> {
    let thread = stored(at).thread("t");
    thread.run(Chain::input(3)).await.unwrap();
    let first = thread.history().await.unwrap()[1].id;
    for _ in 0..at.n {
        thread
            .at(first)
            .update(Chain::update().count(1_usize), superstep::thread::as_node(START))
            .await
            .unwrap();
    }
    thread
}
