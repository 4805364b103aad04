//! Limits on the allocations of supersteps and of restoring a state.

use std::time::Duration;

use superstep::checkpoint::{ChangeKind, CheckpointId, StoredChange, StoredField};
use superstep::payload::Payload;
use superstep::policy::{Policy, Retry};
use superstep::state::Restore;
use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Count {
    #[state(reducer = add)]
    total: u64,
}

async fn tick(_: &Count) -> CountUpdate {
    Count::update().total(1)
}

async fn tock(_: &Count) -> CountUpdate {
    Count::update().total(1)
}

#[derive(GraphState, Clone)]
struct Checked {
    #[state(validate(range(max = 1_000_000)))]
    total: u64,
}

async fn checked(state: &Checked) -> CheckedUpdate {
    Checked::update().total(state.total + 1)
}

/// Measures the allocations of supersteps after a warm-up that fills the run's own buffers.
macro_rules! allocations {
    ($graph:expr, $input:expr, $supersteps:expr) => {{
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut run = $graph.run($input).recursion_limit(100_000).start().unwrap();
        runtime.block_on(async {
            while run.superstep() < 10 {
                run.step().await.unwrap();
            }
        });
        let counted = allocation_counter::measure(|| {
            runtime.block_on(async {
                for _ in 0..$supersteps {
                    run.step().await.unwrap();
                }
            });
        });
        (counted.count_total, counted.bytes_current)
    }};
}

/// Measures the allocations of supersteps in a run that is awaited.
macro_rules! awaited {
    ($graph:expr, $input:expr, $supersteps:expr) => {{
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let count = |limit| {
            let counted = allocation_counter::measure(|| {
                let run = $graph.run($input).recursion_limit(limit);
                runtime.block_on(async { run.await.map(drop).unwrap_err() });
            });
            counted.count_total
        };
        count(2 * $supersteps) - count($supersteps)
    }};
}

#[test]
fn one_node_superstep_allocates_only_its_future() {
    let graph =
        StateGraph::<Count>::new().edge(START, tick).edge(tick, tock).edge(tock, tick).compile().unwrap();
    let count = awaited!(graph, Count::input(), 1_000);
    assert!(count <= 1_100, "{count} allocations in 1000 supersteps");
}

#[test]
fn one_node_superstep_with_rules_allocates_at_most_twice() {
    let graph = StateGraph::<Checked>::new().edge(START, checked).edge(checked, checked).compile().unwrap();
    let count = awaited!(graph, Checked::input(), 1_000);
    assert!(count <= 2_100, "{count} allocations in 1000 supersteps");
}

#[test]
fn step_by_hand_allocates_at_most_twice() {
    let graph =
        StateGraph::<Count>::new().edge(START, tick).edge(tick, tock).edge(tock, tick).compile().unwrap();
    let (count, retained) = allocations!(graph, Count::input(), 1_000);
    assert!(count <= 2_100, "{count} allocations in 1000 supersteps");
    assert_eq!(retained, 0, "bytes retained");
}

#[test]
fn superstep_under_a_policy_retains_no_memory() {
    let policy = Policy::new().retry(Retry::attempts(3).backoff(Duration::ZERO));
    let graph =
        StateGraph::<Count>::new().edge(START, tick).edge(tick, tick).policy(tick, policy).compile().unwrap();
    let (_, retained) = allocations!(graph, Count::input(), 1_000);
    assert_eq!(retained, 0, "bytes retained");
}

#[derive(GraphState, Clone)]
struct Numbers {
    #[state(reducer = append)]
    numbers: Vec<u32>,
}

#[test]
fn restoring_a_list_does_not_allocate_per_delta() {
    let delta = |number: u32| {
        StoredChange::new(CheckpointId::after(None), ChangeKind::Delta, Payload::json(format!("[{number}]")))
    };
    let changes = (0..1_000).map(delta).collect();
    let mut restore = Restore::new(vec![StoredField::new("numbers".to_owned(), changes)]);
    let mut restored = None;
    let counted = allocation_counter::measure(|| restored = Some(Numbers::__restore(&mut restore).unwrap()));
    assert_eq!(restored.unwrap().numbers, (0..1_000).collect::<Vec<_>>());
    assert!(counted.count_total <= 20, "{} allocations for 1000 deltas", counted.count_total);
}
