//! Graphs with many nodes and joins.

use superstep::node::Named;
use superstep::{Context, END, Graph, GraphState, Node, START, StateGraph, named};

use super::growth;

#[derive(GraphState, Clone, Debug)]
struct Wide {
    #[state(reducer = add)]
    ran: usize,
}

struct Tick;

impl Node for Tick {
    type Reads = Wide;
    type Output = WideUpdate;

    async fn run(&self, _: &Wide, _: &Context) -> WideUpdate {
        Wide::update().ran(1_usize)
    }
}

fn nodes(kind: &str, n: usize) -> Vec<Named<Tick>> {
    (0..n).map(|node| named(format!("{kind}{node}"), Tick)).collect()
}

/// START leads to `n` nodes at once, and each two of them to a join.
fn joins(n: usize) -> Graph<Wide> {
    let (left, right, joined) = (nodes("left", n), nodes("right", n), nodes("joined", n));
    let mut graph = StateGraph::<Wide>::new();
    for ((left, right), joined) in left.iter().zip(&right).zip(&joined) {
        graph = graph.edge(START, (left, right)).join((left, right), joined).edge(joined, END);
    }
    graph.compile().unwrap()
}

/// `n` nodes, one after the other, with a join after each.
fn chain(n: usize) -> Graph<Wide> {
    let (left, right) = (nodes("left", n), nodes("right", n));
    let mut graph = StateGraph::<Wide>::new().edge(START, (&left[0], &right[0]));
    for (from, to) in left.iter().zip(&right).zip(left.iter().zip(&right).skip(1)) {
        graph = graph.join((from.0, from.1), (to.0, to.1));
    }
    graph.edge(&left[n - 1], END).edge(&right[n - 1], END).compile().unwrap()
}

growth! {
    graph_of_many_joins: Runtimes, 500 => async |at| {
        at.cost(async { joins(at.n) }).await;
    };
    graph_of_a_long_chain: Runtimes, 500 => async |at| {
        at.cost(async { chain(at.n) }).await;
    };
    joins_of_one_superstep: Both, 500 => async |at| {
        let thread = joins(at.n).with_checkpointer(at.store()).thread("t");
        let outcome = at.cost(async { thread.run(Wide::input()).await.unwrap() }).await;
        assert_eq!(outcome.state().ran, 3 * at.n);
    };
    joins_one_after_the_other: Both, 200 => async |at| {
        let thread = chain(at.n).with_checkpointer(at.store()).thread("t");
        let run = thread.run(Wide::input()).recursion_limit(at.n as u64);
        assert_eq!(at.cost(async { run.await.unwrap() }).await.state().ran, 2 * at.n);
    };
    breakpoints_of_one_superstep: Both, 500 => async |at| {
        let thread = joins(at.n).with_checkpointer(at.store()).thread("t");
        let run = thread.run(Wide::input()).interrupt_before_all();
        at.cost(async { run.await.unwrap() }).await;
        at.cost(async { thread.resume(()).await.unwrap() }).await;
    };
    state_of_joins: Stores, 500 => async |at| {
        let thread = joins(at.n).with_checkpointer(at.store()).thread("t");
        thread.run(Wide::input()).interrupt_before_all().await.unwrap();
        at.cost(async { thread.state().await.unwrap() }).await;
    };
    mermaid_of_a_graph: Runtimes, 200 => async |at| {
        let graph = joins(at.n);
        at.cost(async { graph.picture().to_mermaid().unwrap() }).await;
    };
    dot_of_a_graph: Runtimes, 200 => async |at| {
        let graph = joins(at.n);
        at.cost(async { graph.picture().to_dot().unwrap() }).await;
    };
}
