//! Many tasks in a superstep, and many supersteps in a run.

use serde::{Deserialize, Serialize};
use superstep::{END, GraphState, Route, START, StateGraph};

use crate::engine::trace::{block_on, workers};

#[derive(GraphState, Clone)]
struct Many {
    #[state(reducer = append)]
    list: Vec<u32>,
    #[state(reducer = add)]
    total: u64,
}

#[derive(Serialize, Deserialize)]
struct Item(u32);

#[derive(Route)]
enum Map {
    #[to(item)]
    Item(Item),
}

async fn map() -> Vec<Map> {
    (0..10_000).map(|number| Map::Item(Item(number))).collect()
}

async fn item(item: &Item) -> ManyUpdate {
    if item.0.is_multiple_of(7) {
        tokio::task::yield_now().await;
    }
    Many::update().list([item.0]).total(u64::from(item.0))
}

async fn total(many: &Many) -> ManyUpdate {
    Many::update().total(many.list.len() as u64)
}

#[test]
fn ten_thousand_packets_run_in_order() {
    let graph =
        StateGraph::<Many>::new().edge(START, map).edge(item, total).edge(total, END).compile().unwrap();
    let check = |many: Many| {
        assert!(many.list.iter().copied().eq(0..10_000));
        assert_eq!(many.total, (0..10_000).sum::<u64>() + 10_000);
    };
    check(block_on(graph.run(Many::input())).unwrap().into_state());
    check(block_on(graph.run(Many::input()).max_concurrency(3)).unwrap().into_state());
    check(workers(2).block_on(graph.run(Many::input())).unwrap().into_state());
}

#[derive(GraphState, Clone)]
struct Loop {
    #[state(reducer = add)]
    count: u64,
    last: String,
    #[state(ephemeral)]
    note: Option<String>,
}

#[derive(Route)]
enum Next {
    #[to(left, right)]
    Both,
    #[to(alone)]
    One,
}

async fn alone(state: &Loop) -> (LoopUpdate, Next) {
    let next = if state.count.is_multiple_of(2) { Next::Both } else { Next::One };
    (Loop::update().count(1).last(format!("at {}", state.count)).note(Some("once".to_owned())), next)
}

async fn left(_: &Loop) -> LoopUpdate {
    Loop::update().count(1)
}

async fn right(state: &Loop) -> LoopUpdate {
    Loop::update().last(state.last.clone())
}

#[test]
fn hundred_thousand_supersteps_leak_no_memory() {
    let graph = StateGraph::<Loop>::new().edge(START, alone).join((left, right), alone).compile().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut run = graph.run(Loop::input()).recursion_limit(u64::MAX).start().unwrap();
    let mut steps = |to: u64| {
        runtime.block_on(async {
            while run.superstep() < to {
                assert!(run.step().await.unwrap());
            }
        });
    };
    steps(1_000);
    // The buffers of the run have reached their final size, so later supersteps must free what they allocate.
    let counted = allocation_counter::measure(|| steps(100_000));
    assert!(
        counted.bytes_current.abs() < 1_000,
        "{} bytes retained after 99,000 supersteps",
        counted.bytes_current
    );
    assert!(counted.bytes_max < 100_000, "{} bytes at most", counted.bytes_max);
}
