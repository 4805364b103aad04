//! Measures finding a node's result in the memory cache against running an empty node.
//!
//! Also measures a node without a cache policy in a graph in which another node has one.

#![expect(clippy::expect_used, reason = "a bench that cannot run has to stop")]

use std::time::{Duration, Instant};

use paired::{extent, pair};
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::{END, Graph, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Count {
    total: u64,
}

async fn tick(_: &Count) -> CountUpdate {
    Count::update().total(1)
}

async fn other(_: &Count) -> CountUpdate {
    Count::update()
}

fn ticks(runtime: &tokio::runtime::Runtime, graph: &Graph<Count>, supersteps: u32) -> Duration {
    runtime.block_on(async {
        let start = Instant::now();
        // The graph never ends by itself. The recursion limit ends it after exactly this many supersteps.
        let run = graph.run(Count::input()).recursion_limit(u64::from(supersteps));
        assert!(run.await.is_err(), "a loop without an end");
        start.elapsed() / supersteps
    })
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let (rounds, supersteps) = extent(31, 20_000);
    let plain = || StateGraph::<Count>::new().edge(START, tick).edge(tick, tick);
    let uncached = plain().compile().expect("a loop");
    let cached = plain().cache(tick, CachePolicy::by(|count: &Count| count.total)).compile().expect("a loop");
    let cached = cached.with_cache(MemoryCache::new());
    let found =
        pair(rounds, || ticks(&runtime, &cached, supersteps), || ticks(&runtime, &uncached, supersteps));
    found.report("a superstep whose result is found in memory, against one of an empty node", 100.0);
    let beside = plain().edge(START, other).edge(other, END).cache(other, CachePolicy::by(|_: &Count| ()));
    let beside = beside.compile().expect("a loop").with_cache(MemoryCache::new());
    let free =
        pair(rounds, || ticks(&runtime, &beside, supersteps), || ticks(&runtime, &uncached, supersteps));
    free.report("a superstep of an empty node, with another node that is cached, against without", 1.1);
}
