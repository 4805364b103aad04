//! Measures a one-node superstep against a hand-written loop over the same boxed async function.

#![expect(clippy::expect_used, reason = "a bench that cannot run has to stop")]

use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use paired::{extent, pair};
use superstep::{END, Graph, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone)]
struct Count {
    total: u64,
}

async fn tick(count: &Count) -> CountUpdate {
    Count::update().total(count.total + 1)
}

/// The same by hand: a separate partial update, with the same kind of box.
struct Patch {
    total: Option<u64>,
}

async fn tick_by_hand(count: &Count) -> Patch {
    Patch { total: Some(count.total + 1) }
}

type Boxed = Box<dyn for<'a> Fn(&'a Count) -> Pin<Box<dyn Future<Output = Patch> + Send + 'a>> + Send + Sync>;

fn by_hand(runtime: &tokio::runtime::Runtime, node: &Boxed, supersteps: u32) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        let mut state = Arc::new(Count { total: 0 });
        for _ in 0..supersteps {
            let patch = black_box(node)(&state).await;
            let state = Arc::make_mut(&mut state);
            if let Some(total) = patch.total {
                state.total = total;
            }
        }
        assert_eq!(black_box(state).total, u64::from(supersteps));
        start.elapsed() / supersteps
    })
}

fn by_graph(runtime: &tokio::runtime::Runtime, graph: &Graph<Count>, supersteps: u32) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        // The graph never ends by itself. The recursion limit ends it after exactly this many supersteps.
        let run = graph.run(Count::input()).recursion_limit(u64::from(supersteps));
        let error = run.await.expect_err("a loop without an end");
        let total = error.state::<Count>().expect("the state of the last superstep").total;
        assert_eq!(total, u64::from(supersteps));
        start.elapsed() / supersteps
    })
}

#[derive(GraphState, Clone)]
struct Checked {
    #[state(validate(range(max = 1_000_000_000)))]
    total: u64,
}

#[derive(Route)]
enum Next {
    #[to(checked)]
    Again,
    #[to(END)]
    Enough,
}

async fn checked(state: &Checked) -> (CheckedUpdate, Next) {
    let next = if state.total == u64::MAX { Next::Enough } else { Next::Again };
    (Checked::update().total(state.total + 1), next)
}

fn by_checked_graph(runtime: &tokio::runtime::Runtime, graph: &Graph<Checked>, supersteps: u32) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        let run = graph.run(Checked::input()).recursion_limit(u64::from(supersteps));
        assert!(run.await.is_err(), "a loop without an end");
        start.elapsed() / supersteps
    })
}

/// Measures the cost of tracing support, against a run without a subscriber.
#[cfg(feature = "tracing")]
mod traced {
    use std::time::Duration;

    use superstep::Graph;
    use tracing::level_filters::LevelFilter;
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::{Count, by_graph, extent, pair};

    /// A subscriber that enables spans up to a level, optionally without those of superstep, and stores nothing.
    struct Listens {
        level: LevelFilter,
        to_graphs: bool,
    }

    impl Subscriber for Listens {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            *metadata.level() <= self.level && (self.to_graphs || metadata.target() != "superstep")
        }

        fn max_level_hint(&self) -> Option<LevelFilter> {
            Some(self.level)
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {}

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    pub(super) fn next_to_untraced(runtime: &tokio::runtime::Runtime, graph: &Graph<Count>) {
        let (rounds, supersteps) = extent(15, 100_000);
        let questions = [
            ("with a subscriber to warnings, against none", LevelFilter::WARN, false, 1.1),
            ("with a subscriber to everything else, against none", LevelFilter::TRACE, false, 1.1),
            (
                "with a subscriber to its spans that keeps nothing, against none",
                LevelFilter::TRACE,
                true,
                40.0,
            ),
        ];
        for (question, level, to_graphs, promised) in questions {
            let listened = || -> Duration {
                let listens = Listens { level, to_graphs };
                tracing::subscriber::with_default(listens, || by_graph(runtime, graph, supersteps))
            };
            pair(rounds, listened, || by_graph(runtime, graph, supersteps))
                .report(&format!("a one-node superstep {question}"), promised);
        }
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let node: Boxed = Box::new(|count| Box::pin(tick_by_hand(count)));
    let (rounds, supersteps) = extent(15, 200_000);

    let graph = StateGraph::<Count>::new().edge(START, tick).edge(tick, tick).compile().expect("a graph");
    pair(rounds, || by_graph(&runtime, &graph, supersteps), || by_hand(&runtime, &node, supersteps))
        .report("a one-node superstep", 4.0);
    #[cfg(feature = "tracing")]
    traced::next_to_untraced(&runtime, &graph);

    let graph = StateGraph::<Checked>::new().edge(START, checked).compile().expect("a graph");
    pair(rounds, || by_checked_graph(&runtime, &graph, supersteps), || by_hand(&runtime, &node, supersteps))
        .report("a one-node superstep with a rule and a route, against a loop without", 6.0);
}
