//! Runs without a listener, which create no events and copy nothing for them.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Serialize, Serializer};
use superstep::reducers::{ReduceError, Reducer, Stamp};
use superstep::{Context, END, GraphState, Route, START, StateGraph};

use crate::engine::trace::{block_on, workers};

/// Counts its clones.
#[derive(Debug)]
struct Counted(&'static AtomicUsize);

impl Clone for Counted {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

static UNSET: AtomicUsize = AtomicUsize::new(0);

impl Default for Counted {
    fn default() -> Self {
        Self(&UNSET)
    }
}

#[derive(GraphState, Clone)]
struct Load {
    #[state(untracked, input)]
    read: Counted,
    #[state(untracked, reducer = append)]
    written: Vec<Counted>,
    #[state(reducer = append)]
    log: Vec<u32>,
}

async fn alone(_: &Load) -> LoadUpdate {
    Load::update().log([1])
}

async fn left(load: &Load) -> LoadUpdate {
    tokio::task::yield_now().await;
    Load::update().log([2]).written([Counted(load.read.0)])
}

async fn right(_: &Load) -> LoadUpdate {
    Load::update().log([3])
}

fn graph() -> superstep::Graph<Load> {
    StateGraph::<Load>::new()
        .edge(START, alone)
        .edge(alone, (left, right))
        .edge(left, END)
        .edge(right, END)
        .compile()
        .unwrap()
}

#[test]
fn run_without_listener_copies_nothing() {
    static COPIES: AtomicUsize = AtomicUsize::new(0);
    let outcome = block_on(graph().run(Load::input(Counted(&COPIES)))).unwrap();
    assert_eq!(outcome.state().log, [1, 2, 3]);
    assert_eq!(COPIES.load(Ordering::Relaxed), 0, "on one thread");
    let outcome = workers(2).block_on(graph().run(Load::input(Counted(&COPIES)))).unwrap();
    assert_eq!(outcome.state().written.len(), 1);
    assert_eq!(COPIES.load(Ordering::Relaxed), 0, "on two");
}

#[derive(Route)]
enum Out {
    #[to(END)]
    End,
}

#[test]
fn route_function_copies_only_fields_its_node_wrote() {
    fn decide(load: &Load) -> Out {
        assert_eq!(load.log, [1, 3]);
        Out::End
    }
    static COPIES: AtomicUsize = AtomicUsize::new(0);
    let graph = StateGraph::<Load>::new()
        .edge(START, alone)
        .edge(alone, (left, right))
        .edge(left, END)
        .route(right, decide)
        .compile()
        .unwrap();
    let outcome = block_on(graph.run(Load::input(Counted(&COPIES)))).unwrap();
    assert_eq!(outcome.state().log, [1, 2, 3]);
    assert_eq!(COPIES.load(Ordering::Relaxed), 0);
}

static PREPARED: AtomicUsize = AtomicUsize::new(0);

/// Counts its calls of `prepare`.
enum Counting {}

impl Reducer<Vec<u32>> for Counting {
    type Update = u32;
    type Delta = u32;

    fn prepare(update: u32, _: &Stamp<'_>) -> Result<u32, ReduceError> {
        PREPARED.fetch_add(1, Ordering::Relaxed);
        Ok(update)
    }

    fn fold(value: &mut Vec<u32>, delta: u32) -> Result<(), ReduceError> {
        value.push(delta);
        Ok(())
    }
}

#[derive(GraphState, Clone)]
struct Tally {
    #[state(reducer = Counting)]
    counted: Vec<u32>,
}

#[test]
fn update_seen_by_a_route_function_is_prepared_once() {
    async fn one(_: &Tally) -> TallyUpdate {
        Tally::update().counted(1)
    }
    async fn two(_: &Tally) -> TallyUpdate {
        Tally::update().counted(2)
    }
    fn decide(tally: &Tally) -> Out {
        assert_eq!(tally.counted.len(), 1);
        Out::End
    }
    let graph = StateGraph::<Tally>::new()
        .edge(START, (one, two))
        .route(one, decide)
        .route(two, decide)
        .compile()
        .unwrap();
    assert_eq!(block_on(graph.run(Tally::input())).unwrap().state().counted, [1, 2]);
    assert_eq!(PREPARED.load(Ordering::Relaxed), 2);
}

/// Panics when it is serialized.
struct NeverSerialized;

impl Serialize for NeverSerialized {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        panic!("serialized without a request")
    }
}

#[test]
fn emitted_values_are_not_serialized() {
    async fn sends(_: &Load, cx: &Context) -> LoadUpdate {
        cx.emit(NeverSerialized).await;
        Load::update().log([u32::from(cx.is_observed())])
    }
    let graph = StateGraph::<Load>::new().edge(START, sends).edge(sends, END).compile().unwrap();
    let outcome = block_on(graph.run(Load::input(Counted::default()))).unwrap();
    assert_eq!(outcome.state().log, [0]);
    block_on(async {
        let mut events = graph.stream(Load::input(Counted::default()));
        let mut count = 0;
        while let Some(event) = events.next().await {
            event.unwrap();
            count += 1;
        }
        assert_eq!(count, 7);
    });
}
