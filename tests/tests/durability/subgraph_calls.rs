//! Crashes during subgraph calls: finished nodes inside a call do not run again, and a call's writes reach the parent
//! state once.

use serde::{Deserialize, Serialize};
use superstep::subgraph::Subgraph;
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeError, Result, Route, START, StateGraph,
    subgraph::WiredTo,
};

use crate::crashes::{Crash, Timeline, crash_at_each_instant, fail_each_commit, never_after};
use crate::instrumented_store::stay_pending;

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Tour {
    #[state(input)]
    pub(crate) rounds: u64,
    pub(crate) round: u64,
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

/// The state of subgraphs with their own state.
#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Count {
    #[state(input)]
    round: u64,
    #[state(reducer = append)]
    pub(crate) counted: Vec<String>,
}

fn say(text: impl Into<String>) -> TourUpdate {
    Tour::update().log([text.into()])
}

/// Records that the node runs, takes a while, and appends to the log.
async fn run_node(tour: &Tour, cx: &ContextWith<Timeline>) -> TourUpdate {
    cx.context().note(format!("{} {}", tour.round, cx.node()));
    stay_pending(3).await;
    say(format!("{} {}", tour.round, cx.node()))
}

macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(tour: &Tour, cx: &ContextWith<Timeline>) -> TourUpdate {
            run_node(tour, cx).await
        }
    )*};
}

nodes! { deal one three beside }

async fn two(tour: &Tour, cx: &ContextWith<Timeline>) -> Result<TourUpdate> {
    let paid = pay(tour.round, cx).await?;
    Ok(Tour::update().log([format!("{} two", tour.round), paid]))
}

async fn pay(round: u64, cx: &ContextWith<Timeline>) -> Result<String> {
    let paid = format!("{round} {} paid", cx.node());
    let pay = async {
        cx.context().note(format!("{paid} begun"));
        stay_pending(2).await;
        cx.context().note(&paid);
        Ok::<_, NodeError>(paid.clone())
    };
    let receipt = cx.step("pay", pay).await?;
    cx.context().note(format!("{paid} kept"));
    stay_pending(2).await;
    Ok(receipt)
}

async fn count(count: &Count, cx: &ContextWith<Timeline>) -> Result<CountUpdate> {
    Ok(Count::update().counted([format!("{} #{}", pay(count.round, cx).await?, count.counted.len())]))
}

#[derive(Serialize, Deserialize)]
struct Errand(u64);

async fn carry(errand: &Count, cx: &ContextWith<Timeline>) -> CountUpdate {
    cx.context().note(format!("{} carry", errand.round));
    stay_pending(2).await;
    Count::update().counted([format!("{} carried", errand.round)])
}

#[derive(Route)]
enum Sent {
    #[to("errand")]
    Errand(Errand),
}

async fn send(tour: &Tour) -> (TourUpdate, Vec<Sent>) {
    let errands = [10, 20].map(|errand| Sent::Errand(Errand(tour.round + errand)));
    (say(format!("{} send", tour.round)), errands.into())
}

#[derive(Route)]
enum Then {
    #[to(deal)]
    Again,
    #[to(END)]
    Enough,
}

async fn collect(tour: &Tour) -> (TourUpdate, Then) {
    let then = if tour.round + 1 < tour.rounds { Then::Again } else { Then::Enough };
    (say(format!("{} collect", tour.round)).round(tour.round + 1), then)
}

/// A subgraph on the parent state, with another subgraph inside.
pub(crate) fn shared() -> Subgraph<Tour, Timeline> {
    let deep = tour().edge(START, two).edge(two, END).compile().unwrap().as_node("deep");
    let inner = tour().edge(START, one).edge(one, &deep).edge(&deep, three).edge(three, END);
    inner.compile().unwrap().as_node("inner")
}

fn tour() -> StateGraph<Tour, Timeline> {
    StateGraph::<Tour>::with_context::<Timeline>()
}

/// Returns the graph, and its subgraph that keeps its state per thread.
pub(crate) fn graph() -> (Graph<Tour, Timeline>, Subgraph<Count, Timeline, impl WiredTo<Count, Tour>>) {
    let counts = StateGraph::<Count>::with_context::<Timeline>;
    let kept = counts().edge(START, count).edge(count, END).compile().unwrap();
    let kept = kept
        .as_node("kept")
        .mapped(
            |tour: &Tour| Count::input(tour.round),
            |done| Tour::update().log(done.appended(|count: &Count| &count.counted).to_vec()),
        )
        .per_thread();
    let errand = counts().edge(START, carry).edge(carry, END).compile().unwrap();
    let errand = errand.as_node("errand").mapped_packet(
        |_: &Tour, errand: &Errand| Count::input(errand.0),
        |done| Tour::update().log(done.state.counted),
    );
    let shared = shared();
    let graph = tour()
        .edge(START, deal)
        .edge(deal, (&shared, &kept, beside))
        .join((&shared, &kept, beside), send)
        .edge(&errand, collect)
        .compile()
        .unwrap();
    (graph, kept)
}

/// The log of a finished run.
pub(crate) fn log(rounds: u64) -> Vec<String> {
    let round = |round: u64| {
        [
            format!("{round} deal"),
            format!("{round} one"),
            format!("{round} two"),
            format!("{round} two paid"),
            format!("{round} three"),
            format!("{round} count paid #{round}"),
            format!("{round} beside"),
            format!("{round} send"),
            format!("{} carried", round + 10),
            format!("{} carried", round + 20),
            format!("{round} collect"),
        ]
    };
    (0..rounds).flat_map(round).collect()
}

const ROUNDS: u64 = 2;

/// Asserts that durable work was not repeated.
pub(crate) fn assert_durable_work_is_kept<'n>(
    notes: impl Iterator<Item = &'n str> + Clone,
    rounds: u64,
    durability: Durability,
    about: &str,
) {
    for round in 0..rounds {
        let never_after = |first: &str, then: &str| {
            let (first, then) = (format!("{round} {first}"), format!("{round} {then}"));
            assert!(never_after(&first, &then, notes.clone()), "{about}: {first}, {then}");
        };
        // A step's result is durable when the step returns, with everything before it.
        never_after("two paid kept", "two paid");
        never_after("count paid kept", "count paid");
        never_after("two paid begun", "one");
        never_after("two paid begun", "deal");
        never_after("count paid begun", "deal");
        // With `Sync`, each superstep of each graph is durable before the next begins.
        if durability == Durability::Sync {
            never_after("one", "deal");
            never_after("three", "two paid begun");
        }
    }
}

async fn assert_recovered(crash: &Crash<Tour>, durability: Durability) {
    let about = &crash.about;
    assert_eq!(crash.state.log, log(ROUNDS), "{about}");
    assert_durable_work_is_kept(crash.all(), ROUNDS, durability, about);
    // The stored calls are readable after the crash.
    let shared = crash.thread.within(&shared());
    assert!(!shared.history().await.unwrap().is_empty(), "{about}");
    let last = shared.state().await.map(Option::unwrap);
    // With `Exit`, the end of an uninterrupted call is not stored.
    let readable = last.as_ref().is_ok_and(|last| last.is_finished() || durability == Durability::Exit);
    assert!(readable, "{about}: {last:?}");
    let kept = crash.thread.within(&graph().1).state().await.unwrap().unwrap();
    assert_eq!(kept.state.unwrap().counted.len() as u64, ROUNDS, "{about}");
}

#[tokio::test(start_paused = true)]
async fn calls_continue_after_a_crash_at_any_instant() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [(0, 0), (3, 0), (0, 30)] {
            for crash in crash_at_each_instant(&graph().0, || Tour::input(ROUNDS), durability, slow).await {
                assert_recovered(&crash, durability).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_continue_after_any_failed_commit() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for crash in fail_each_commit(&graph().0, || Tour::input(ROUNDS), durability).await {
            assert_recovered(&crash, durability).await;
        }
    }
}
