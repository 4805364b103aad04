//! Fan-outs on several workers: the state stays with one owner, limits hold for tasks that wait, and dropped runs begin no
//! further task.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use superstep::{ContextWith, END, Graph, GraphState, Route, START, StateGraph};

use crate::engine::trace::workers;

/// Counts the copies of a state.
#[derive(Debug, Default)]
struct Copies(Arc<AtomicUsize>);

impl Clone for Copies {
    fn clone(&self) -> Self {
        self.0.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(&self.0))
    }
}

#[derive(GraphState, Clone, Debug)]
struct Fan {
    #[state(untracked)]
    copies: Copies,
    rounds: u32,
    #[state(reducer = append)]
    done: Vec<u32>,
}

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(u32),
}

/// The activity of the tasks of a run: how many of them work at once.
#[derive(Default)]
struct Crowd {
    /// Each task waits, in milliseconds.
    waits: u64,
    /// Each task keeps its worker busy, in milliseconds.
    computes: u64,
    begun: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

const WIDTH: u32 = 50;

async fn deal(_: &Fan) -> Vec<Deal> {
    (0..WIDTH).map(Deal::Work).collect()
}

async fn work(_: &Fan, number: &u32, cx: &ContextWith<Crowd>) -> FanUpdate {
    let crowd = cx.context();
    crowd.begun.fetch_add(1, Ordering::SeqCst);
    let now = crowd.now.fetch_add(1, Ordering::SeqCst) + 1;
    crowd.most.fetch_max(now, Ordering::SeqCst);
    if crowd.computes > 0 {
        std::thread::sleep(Duration::from_millis(crowd.computes));
    }
    if crowd.waits > 0 {
        tokio::time::sleep(Duration::from_millis(crowd.waits)).await;
    }
    crowd.now.fetch_sub(1, Ordering::SeqCst);
    Fan::update().done([*number])
}

#[derive(Route)]
enum Next {
    #[to(deal)]
    Again,
    #[to(END)]
    Enough,
}

async fn count(fan: &Fan) -> (FanUpdate, Next) {
    let rounds = fan.rounds + 1;
    (Fan::update().rounds(rounds), if rounds < 100 { Next::Again } else { Next::Enough })
}

fn looped() -> Graph<Fan, Crowd> {
    StateGraph::<Fan>::with_context::<Crowd>().edge(START, deal).edge(work, count).compile().unwrap()
}

fn once() -> Graph<Fan, Crowd> {
    StateGraph::<Fan>::with_context::<Crowd>().edge(START, deal).edge(work, END).compile().unwrap()
}

#[test]
fn fan_outs_on_workers_do_not_copy_the_state() {
    let copies = Copies::default();
    let counted = Arc::clone(&copies.0);
    let run = looped().run(Fan::input().copies(copies)).recursion_limit(1_000).context(Crowd::default());
    let state = workers(2).block_on(run).unwrap().into_state();
    assert_eq!((state.rounds, state.done.len()), (100, 5_000));
    assert!(
        state.done.chunks(50).all(|round| round.iter().copied().eq(0..WIDTH)),
        "in the order of the packets"
    );
    assert_eq!(counted.load(Ordering::SeqCst), 0, "copies");
}

#[test]
fn limit_holds_for_tasks_that_wait() {
    for limit in [1, 3, 20] {
        let crowd = Arc::new(Crowd { waits: 10, ..Crowd::default() });
        let run = once().run(Fan::input()).max_concurrency(limit).context(Arc::clone(&crowd));
        let state = workers(2).block_on(run).unwrap().into_state();
        assert_eq!(state.done.len(), 50);
        assert_eq!(crowd.most.load(Ordering::SeqCst), limit, "tasks at once");
    }
}

#[test]
fn all_tasks_wait_at_once_without_a_limit() {
    let crowd = Arc::new(Crowd { waits: 200, ..Crowd::default() });
    let run = once().run(Fan::input()).context(Arc::clone(&crowd));
    workers(2).block_on(run).unwrap();
    assert_eq!(crowd.most.load(Ordering::SeqCst), 50, "tasks at once");
}

#[test]
fn busy_tasks_use_all_workers() {
    let crowd = Arc::new(Crowd { computes: 5, ..Crowd::default() });
    let run = once().run(Fan::input()).context(Arc::clone(&crowd));
    workers(4).block_on(run).unwrap();
    assert_eq!(crowd.most.load(Ordering::SeqCst), 4, "tasks at once");
}

#[test]
fn dropped_run_begins_no_further_task() {
    let crowd = Arc::new(Crowd { computes: 5, ..Crowd::default() });
    let runtime = workers(2);
    let run = once().run(Fan::input()).context(Arc::clone(&crowd));
    runtime.block_on(async {
        assert!(tokio::time::timeout(Duration::from_millis(30), run).await.is_err());
    });
    // A task that had begun when the run was dropped may still be on its way.
    std::thread::sleep(Duration::from_millis(10));
    let begun = crowd.begun.load(Ordering::SeqCst);
    assert!((1..50).contains(&begun), "{begun} tasks had begun");
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(crowd.begun.load(Ordering::SeqCst), begun, "tasks that began after the drop");
}
