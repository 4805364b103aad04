//! A process that dies while graphs within its graph run: what has finished within does not run again, and what a call has
//! written comes to the graph around it once.

use serde::{Deserialize, Serialize};
use superstep::subgraph::Subgraph;
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeError, Result, Route, START, StateGraph,
    subgraph::WiredTo,
};

use crate::instants::{Crash, World, at_each_instant, never_after, whichever_commit_fails};
use crate::watched::pause;

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Tour {
    #[state(input)]
    pub(crate) rounds: u64,
    pub(crate) round: u64,
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

/// The state of calls that have one of their own.
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

/// Every node notes that it runs, takes a while, and says so in the state.
async fn say_so(tour: &Tour, cx: &ContextWith<World>) -> TourUpdate {
    cx.context().note(format!("{} {}", tour.round, cx.node()));
    pause(3).await;
    say(format!("{} {}", tour.round, cx.node()))
}

macro_rules! nodes {
    ($($name:ident)*) => {$(
        async fn $name(tour: &Tour, cx: &ContextWith<World>) -> TourUpdate {
            say_so(tour, cx).await
        }
    )*};
}

nodes! { deal one three beside }

async fn two(tour: &Tour, cx: &ContextWith<World>) -> Result<TourUpdate> {
    let paid = pay(tour.round, cx).await?;
    Ok(Tour::update().log([format!("{} two", tour.round), paid]))
}

async fn pay(round: u64, cx: &ContextWith<World>) -> Result<String> {
    let paid = format!("{round} {} paid", cx.node());
    let pay = async {
        cx.context().note(format!("{paid} begun"));
        pause(2).await;
        cx.context().note(&paid);
        Ok::<_, NodeError>(paid.clone())
    };
    let receipt = cx.step("pay", pay).await?;
    cx.context().note(format!("{paid} kept"));
    pause(2).await;
    Ok(receipt)
}

async fn count(count: &Count, cx: &ContextWith<World>) -> Result<CountUpdate> {
    Ok(Count::update().counted([format!("{} #{}", pay(count.round, cx).await?, count.counted.len())]))
}

#[derive(Serialize, Deserialize)]
struct Errand(u64);

async fn carry(errand: &Count, cx: &ContextWith<World>) -> CountUpdate {
    cx.context().note(format!("{} carry", errand.round));
    pause(2).await;
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

/// A call on the state around it, and one within that.
pub(crate) fn shared() -> Subgraph<Tour, World> {
    let deep = tour().edge(START, two).edge(two, END).compile().unwrap().as_node("deep");
    let inner = tour().edge(START, one).edge(one, &deep).edge(&deep, three).edge(three, END);
    inner.compile().unwrap().as_node("inner")
}

fn tour() -> StateGraph<Tour, World> {
    StateGraph::<Tour>::with_context::<World>()
}

/// The graph, and its subgraph that goes on with what its last call has left.
pub(crate) fn graph() -> (Graph<Tour, World>, Subgraph<Count, World, impl WiredTo<Count, Tour>>) {
    let counts = StateGraph::<Count>::with_context::<World>;
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

/// The log at the end.
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

/// What was known to be durable is not done again.
pub(crate) fn is_kept<'n>(
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
        // What has come back from a step is there for good, with all that it hangs on.
        never_after("two paid kept", "two paid");
        never_after("count paid kept", "count paid");
        never_after("two paid begun", "one");
        never_after("two paid begun", "deal");
        never_after("count paid begun", "deal");
        // Each superstep, of whichever graph, is durable before the next begins.
        if durability == Durability::Sync {
            never_after("one", "deal");
            never_after("three", "two paid begun");
        }
    }
}

async fn holds(crash: &Crash<Tour>, durability: Durability) {
    let about = &crash.about;
    assert_eq!(crash.state.log, log(ROUNDS), "{about}");
    is_kept(crash.all(), ROUNDS, durability, about);
    // What is stored of calls is shown, whatever it went through.
    let shared = crash.thread.within(&shared());
    assert!(!shared.history().await.unwrap().is_empty(), "{about}");
    let last = shared.state().await.map(Option::unwrap);
    // With `Exit` a call that does not stop on the way is not stored at its end.
    let shown = last.as_ref().is_ok_and(|last| last.is_finished() || durability == Durability::Exit);
    assert!(shown, "{about}: {last:?}");
    let kept = crash.thread.within(&graph().1).state().await.unwrap().unwrap();
    assert_eq!(kept.state.unwrap().counted.len() as u64, ROUNDS, "{about}");
}

#[tokio::test(start_paused = true)]
async fn calls_go_on_after_a_crash_at_any_instant() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [(0, 0), (3, 0), (0, 30)] {
            for crash in at_each_instant(&graph().0, || Tour::input(ROUNDS), durability, slow).await {
                holds(&crash, durability).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_go_on_whichever_commit_fails() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for crash in whichever_commit_fails(&graph().0, || Tour::input(ROUNDS), durability).await {
            holds(&crash, durability).await;
        }
    }
}
