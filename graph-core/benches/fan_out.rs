//! Measures a 1 → 100 → 1 fan-out against `join_all` and `JoinSet`, with tasks that are ready at once and with tasks that
//! sleep, and checks that CPU-bound tasks use both cores.

#![expect(clippy::expect_used, reason = "a bench that cannot run has to stop")]

use std::hint::black_box;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use paired::{extent, is_selected, measuring, pair};
use superstep::{END, Graph, GraphState, Result, Route, START, StateGraph};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const WIDTH: u32 = 100;

#[derive(GraphState, Clone)]
struct Sum {
    /// The number of rounds of work in each task.
    #[state(input)]
    rounds: u32,
    /// The sleep of each task in milliseconds.
    #[state(input)]
    nap: u64,
    #[state(reducer = any_value)]
    total: u64,
}

#[derive(Route)]
enum Work {
    #[to(work)]
    On(u32),
}

async fn split(_: &Sum) -> Result<Vec<Work>> {
    Ok((0..WIDTH).map(Work::On).collect())
}

async fn work(sum: &Sum, item: &u32) -> SumUpdate {
    nap(sum).await;
    Sum::update().total(burn(*item, sum.rounds))
}

async fn collect(sum: &Sum) -> SumUpdate {
    Sum::update().total(sum.total + 1)
}

async fn nap(sum: &Sum) {
    if sum.nap > 0 {
        tokio::time::sleep(Duration::from_millis(sum.nap)).await;
    }
}

/// Keeps a core busy for a number of rounds.
fn burn(item: u32, rounds: u32) -> u64 {
    (0..rounds).fold(u64::from(item), |value, _| {
        black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1))
    })
}

struct Patch {
    total: Option<u64>,
}

type BoxedPatch = Pin<Box<dyn Future<Output = Patch> + Send>>;

fn boxed_work(sum: &Arc<Sum>, item: u32) -> BoxedPatch {
    let sum = Arc::clone(sum);
    Box::pin(async move {
        nap(&sum).await;
        Patch { total: Some(burn(item, sum.rounds)) }
    })
}

fn boxed_collect(sum: &Arc<Sum>) -> BoxedPatch {
    let sum = Arc::clone(sum);
    Box::pin(async move { Patch { total: Some(sum.total + 1) } })
}

fn apply(sum: &mut Arc<Sum>, patches: Vec<Patch>) {
    let sum = Arc::make_mut(sum);
    for total in patches.into_iter().filter_map(|patch| patch.total) {
        sum.total = total;
    }
}

async fn joined() -> u64 {
    let mut sum = Arc::new(Sum { rounds: 0, nap: 0, total: 0 });
    let patches = join_all((0..WIDTH).map(|item| boxed_work(&sum, item))).await;
    apply(&mut sum, patches);
    let last = boxed_collect(&sum).await;
    apply(&mut sum, vec![last]);
    sum.total
}

async fn spawned(rounds: u32, nap: u64) -> u64 {
    let mut sum = Arc::new(Sum { rounds, nap, total: 0 });
    let mut set = JoinSet::new();
    for item in 0..WIDTH {
        set.spawn(boxed_work(&sum, item));
    }
    let patches = set.join_all().await;
    apply(&mut sum, patches);
    let last = boxed_collect(&sum).await;
    apply(&mut sum, vec![last]);
    sum.total
}

async fn graphed(graph: Graph<Sum>, rounds: u32, nap: u64) -> u64 {
    graph.run(Sum::input(rounds, nap)).await.expect("a run").into_state().total
}

/// Runs `program` on a worker of the runtime, as a server would.
fn time<F: Future<Output = u64> + Send + 'static>(
    runtime: &Runtime,
    runs: u32,
    program: impl Fn() -> F + Send + 'static,
) -> Duration {
    let timed = async move {
        let start = Instant::now();
        for _ in 0..runs {
            black_box(program().await);
        }
        start.elapsed() / runs
    };
    runtime.block_on(async move { tokio::spawn(timed).await.expect("a task") })
}

fn workers(threads: usize) -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .enable_time()
        .build()
        .expect("a runtime")
}

fn main() {
    let graph = StateGraph::<Sum>::new()
        .edge(START, split)
        .edge(work, collect)
        .edge(collect, END)
        .compile()
        .expect("a graph");
    let run = |rounds: u32, nap: u64| {
        let graph = graph.clone();
        move || graphed(graph.clone(), rounds, nap)
    };
    let (rounds, runs) = extent(15, 1_000);
    let two = workers(2);

    if is_selected("one") {
        let one = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        pair(rounds, || time(&one, runs, run(0, 0)), || time(&one, runs, joined))
            .report("1 → 100 → 1 on one thread, against `join_all`", 1.5);
    }
    if is_selected("two") {
        pair(rounds, || time(&two, runs, run(0, 0)), || time(&two, runs, || spawned(0, 0)))
            .report("1 → 100 → 1 on two workers, against `JoinSet`", 0.6);
    }
    if is_selected("sleeping") {
        let (rounds, runs) = extent(15, 50);
        pair(rounds, || time(&two, runs, run(0, 1)), || time(&two, runs, || spawned(0, 1)))
            .report("1 → 100 → 1 with tasks that sleep 1 ms on two workers, against `JoinSet`", 1.1);
    }
    if is_selected("busy") {
        scaling(&two, run);
    }
}

/// Compares the gain of a second worker for CPU-bound tasks with that of a `JoinSet`.
fn scaling<F: Future<Output = u64> + Send + 'static, R: Fn() -> F + Send + 'static>(
    two: &Runtime,
    run: impl Fn(u32, u64) -> R,
) {
    let (rounds, runs) = extent(31, 5);
    let busy = if measuring() { 20_000 } else { 1 };
    let single = workers(1);
    let by_hand = move || spawned(busy, 0);
    let on_one = pair(rounds, || time(&single, runs, run(busy, 0)), || time(&single, runs, by_hand));
    let on_two = pair(rounds, || time(two, runs, run(busy, 0)), || time(two, runs, by_hand));
    let gain = |one: Duration, two: Duration| one.as_secs_f64() / two.as_secs_f64();
    let (ours, theirs) = (gain(on_one.ours, on_two.ours), gain(on_one.theirs, on_two.theirs));
    if measuring() {
        // Of the pairs, whose times were taken one after the other: a machine that slows down slows both.
        let relative = on_one.ratio / on_two.ratio;
        let kept = if relative >= 0.97 { "kept" } else { "MISSED" };
        println!(
            "CPU-bound fan-out from one worker to two: {ours:.2}× against {theirs:.2}× by hand, {relative:.2} of it (promised ≥ 0.97: {kept}); \
             {:?} against {:?} on one, {:?} against {:?} on two",
            on_one.ours, on_one.theirs, on_two.ours, on_two.theirs
        );
    }
}
