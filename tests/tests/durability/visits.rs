//! A process that dies at any instant of a visit in which everything happens at once: questions, breakpoints, sleeps, failures
//! and their handlers, in a graph and in those within it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::subgraph::ParentCommand;
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeError, NodeFailure, Result, Route, START,
    StateGraph, bail,
};

use crate::instants::{
    Crash, World, at_each_instant, never_after, stopped_at_each_instant, whichever_commit_fails,
};
use crate::watched::pause;

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(GraphState, Clone, Debug, PartialEq)]
struct Visit {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct May(String);

impl Question for May {
    type Answer = bool;
}

fn say(text: &str) -> VisitUpdate {
    Visit::update().log([text.to_owned()])
}

/// Asks, and notes once it has heard.
async fn may(cx: &ContextWith<World>, what: &str) -> bool {
    let yes = cx.interrupt(May(what.to_owned())).await;
    cx.context().note(format!("heard {what}"));
    yes
}

async fn greet(_: &Visit, cx: &ContextWith<World>) -> VisitUpdate {
    cx.context().note("greet");
    pause(2).await;
    say("greet")
}

/// Asks, does something for good, fails, and is tried again.
async fn flaky(_: &Visit, cx: &ContextWith<World>) -> Result<VisitUpdate> {
    may(cx, "enter").await;
    let pay = async {
        cx.context().note("paid");
        pause(1).await;
        Ok::<_, NodeError>(())
    };
    cx.step("pay", pay).await?;
    cx.context().note("paid for");
    if cx.attempt() < 2 {
        bail!("the door is stuck");
    }
    may(cx, "sit").await;
    Ok(say("flaky"))
}

async fn nap(_: &Visit, cx: &ContextWith<World>) -> VisitUpdate {
    cx.context().note("nap");
    cx.sleep(2 * HOUR).await;
    cx.context().note("napped");
    say("nap")
}

async fn clumsy(_: &Visit, cx: &ContextWith<World>) -> Result<VisitUpdate> {
    cx.context().note("clumsy");
    pause(3).await;
    bail!("a vase is broken")
}

/// A handler that asks.
async fn sorry(_: &Visit, _: &NodeFailure, cx: &ContextWith<World>) -> VisitUpdate {
    cx.context().note("sorry");
    may(cx, "sweep").await;
    say("sorry")
}

async fn leave(_: &Visit, cx: &ContextWith<World>) -> VisitUpdate {
    cx.context().note("leave");
    say("leave")
}

#[derive(Route)]
enum Hand {
    #[to("helper")]
    Over,
}

/// Says something to the graph around.
async fn call_out(_: &Visit, cx: &ContextWith<World>) -> ParentCommand<Visit, Hand> {
    cx.context().note("call out");
    pause(2).await;
    ParentCommand::update(say("called out")).goto(Hand::Over)
}

async fn helper(_: &Visit, cx: &ContextWith<World>) -> VisitUpdate {
    cx.context().note("helper");
    may(cx, "help").await;
    say("helper")
}

fn visit() -> StateGraph<Visit, World> {
    StateGraph::<Visit>::with_context::<World>()
}

/// What happens in one graph.
fn inside() -> StateGraph<Visit, World> {
    visit()
        .edge(START, greet)
        .edge(greet, (flaky, nap, clumsy))
        .join((flaky, nap, clumsy), leave)
        .interrupt_before(leave)
        .policy(flaky, Policy::new().retry(Retry::attempts(2).backoff(HOUR).max_backoff(HOUR)))
        .on_error(clumsy, sorry)
}

fn alone() -> Graph<Visit, World> {
    inside().edge(leave, END).compile().unwrap()
}

/// The same within another, which ends what is within by what it says.
fn within() -> Graph<Visit, World> {
    let inner = inside().edge(leave, call_out).edge(call_out, END).compile().unwrap().as_node("inner");
    visit().edge(START, greet).edge(greet, &inner).edge(&inner, END).edge(helper, END).compile().unwrap()
}

fn deeper() -> Graph<Visit, World> {
    let inner = alone().as_node("inner");
    let middle = visit().edge(START, &inner).edge(&inner, END).compile().unwrap().as_node("middle");
    visit().edge(START, (&middle, helper)).edge(&middle, END).edge(helper, END).compile().unwrap()
}

fn holds(crash: &Crash<Visit>, durability: Durability, log: &[&str]) {
    let about = &crash.about;
    assert_eq!(crash.state.log, log, "{about}");
    let never_after =
        |first: &str, then: &str| assert!(never_after(first, then, crash.all()), "{about}: {first}, {then}");
    never_after("paid for", "paid");
    for what in ["enter", "sit", "sweep", "help"] {
        // Whoever has heard an answer is not asked again.
        never_after(&format!("heard {what}"), &format!("asked \"{what}\""));
    }
    if durability != Durability::Exit {
        never_after("sorry", "clumsy");
    }
    if durability == Durability::Sync {
        never_after("leave", "greet");
        never_after("leave", "napped");
        never_after("helper", "call out");
    }
}

async fn goes_on(graph: &Graph<Visit, World>, log: &[&str]) {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let crashes = at_each_instant(graph, Visit::input, durability, (0, 30)).await;
        crashes.iter().for_each(|crash| holds(crash, durability, log));
        let crashes = stopped_at_each_instant(graph, Visit::input, durability, 3).await;
        assert!(crashes.len() > 20);
        crashes.iter().for_each(|crash| holds(crash, durability, log));
        let crashes = whichever_commit_fails(graph, Visit::input, durability).await;
        crashes.iter().for_each(|crash| holds(crash, durability, log));
    }
}

#[tokio::test(start_paused = true)]
async fn a_visit_goes_on_after_a_crash_or_a_stop_at_any_instant() {
    goes_on(&alone(), &["greet", "flaky", "nap", "sorry", "leave"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_visit_within_a_call_goes_on_after_a_crash_or_a_stop_at_any_instant() {
    goes_on(&within(), &["greet", "greet", "flaky", "nap", "sorry", "leave", "called out", "helper"]).await;
    goes_on(&deeper(), &["greet", "flaky", "nap", "sorry", "leave", "helper"]).await;
}
