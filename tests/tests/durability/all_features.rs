//! Crashes at any instant of a run with all features: interrupts, breakpoints, sleeps, failures and error handlers,
//! in a graph and in its subgraphs.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::subgraph::ParentCommand;
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeError, NodeFailure, Result, Route, START,
    StateGraph, bail,
};

use crate::crashes::{
    Crash, Timeline, crash_at_each_instant, fail_each_commit, never_after, stop_at_each_instant,
};
use crate::instrumented_store::stay_pending;

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

/// Asks, and records when the answer has arrived.
async fn may(cx: &ContextWith<Timeline>, what: &str) -> bool {
    let yes = cx.interrupt(May(what.to_owned())).await;
    cx.context().note(format!("heard {what}"));
    yes
}

async fn greet(_: &Visit, cx: &ContextWith<Timeline>) -> VisitUpdate {
    cx.context().note("greet");
    stay_pending(2).await;
    say("greet")
}

/// Asks, runs a durable step, fails, and is retried.
async fn flaky(_: &Visit, cx: &ContextWith<Timeline>) -> Result<VisitUpdate> {
    may(cx, "enter").await;
    let pay = async {
        cx.context().note("paid");
        stay_pending(1).await;
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

async fn nap(_: &Visit, cx: &ContextWith<Timeline>) -> VisitUpdate {
    cx.context().note("nap");
    cx.sleep(2 * HOUR).await;
    cx.context().note("napped");
    say("nap")
}

async fn clumsy(_: &Visit, cx: &ContextWith<Timeline>) -> Result<VisitUpdate> {
    cx.context().note("clumsy");
    stay_pending(3).await;
    bail!("a vase is broken")
}

/// An error handler that asks.
async fn sorry(_: &Visit, _: &NodeFailure, cx: &ContextWith<Timeline>) -> VisitUpdate {
    cx.context().note("sorry");
    may(cx, "sweep").await;
    say("sorry")
}

async fn leave(_: &Visit, cx: &ContextWith<Timeline>) -> VisitUpdate {
    cx.context().note("leave");
    say("leave")
}

#[derive(Route)]
enum Hand {
    #[to("helper")]
    Over,
}

/// Sends a command to the parent graph.
async fn call_out(_: &Visit, cx: &ContextWith<Timeline>) -> ParentCommand<Visit, Hand> {
    cx.context().note("call out");
    stay_pending(2).await;
    ParentCommand::update(say("called out")).goto(Hand::Over)
}

async fn helper(_: &Visit, cx: &ContextWith<Timeline>) -> VisitUpdate {
    cx.context().note("helper");
    may(cx, "help").await;
    say("helper")
}

fn visit() -> StateGraph<Visit, Timeline> {
    StateGraph::<Visit>::with_context::<Timeline>()
}

/// The nodes of one graph.
fn inside() -> StateGraph<Visit, Timeline> {
    visit()
        .edge(START, greet)
        .edge(greet, (flaky, nap, clumsy))
        .join((flaky, nap, clumsy), leave)
        .interrupt_before(leave)
        .policy(flaky, Policy::new().retry(Retry::attempts(2).backoff(HOUR).max_backoff(HOUR)))
        .on_error(clumsy, sorry)
}

fn alone() -> Graph<Visit, Timeline> {
    inside().edge(leave, END).compile().unwrap()
}

/// The same as a subgraph, which ends with a command to its parent.
fn within() -> Graph<Visit, Timeline> {
    let inner = inside().edge(leave, call_out).edge(call_out, END).compile().unwrap().as_node("inner");
    visit().edge(START, greet).edge(greet, &inner).edge(&inner, END).edge(helper, END).compile().unwrap()
}

fn deeper() -> Graph<Visit, Timeline> {
    let inner = alone().as_node("inner");
    let middle = visit().edge(START, &inner).edge(&inner, END).compile().unwrap().as_node("middle");
    visit().edge(START, (&middle, helper)).edge(&middle, END).edge(helper, END).compile().unwrap()
}

fn assert_recovered(crash: &Crash<Visit>, durability: Durability, log: &[&str]) {
    let about = &crash.about;
    assert_eq!(crash.state.log, log, "{about}");
    let never_after =
        |first: &str, then: &str| assert!(never_after(first, then, crash.all()), "{about}: {first}, {then}");
    never_after("paid for", "paid");
    for what in ["enter", "sit", "sweep", "help"] {
        // An interrupt with an answer is not asked again.
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

async fn check_crashes(graph: &Graph<Visit, Timeline>, log: &[&str]) {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let crashes = crash_at_each_instant(graph, Visit::input, durability, (0, 30)).await;
        crashes.iter().for_each(|crash| assert_recovered(crash, durability, log));
        let crashes = stop_at_each_instant(graph, Visit::input, durability, 3).await;
        assert!(crashes.len() > 20);
        crashes.iter().for_each(|crash| assert_recovered(crash, durability, log));
        let crashes = fail_each_commit(graph, Visit::input, durability).await;
        crashes.iter().for_each(|crash| assert_recovered(crash, durability, log));
    }
}

#[tokio::test(start_paused = true)]
async fn run_continues_after_a_crash_or_stop_at_any_instant() {
    check_crashes(&alone(), &["greet", "flaky", "nap", "sorry", "leave"]).await;
}

#[tokio::test(start_paused = true)]
async fn subgraph_continues_after_a_crash_or_stop_at_any_instant() {
    check_crashes(&within(), &["greet", "greet", "flaky", "nap", "sorry", "leave", "called out", "helper"])
        .await;
    check_crashes(&deeper(), &["greet", "flaky", "nap", "sorry", "leave", "helper"]).await;
}
