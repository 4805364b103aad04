//! A process that dies while a node waits for its next attempt, sleeps, or has its error handled: what was known is known.

use std::time::Duration;

use superstep::policy::{Policy, Retry};
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeError, NodeFailure, Result, START, StateGraph, bail,
};

use crate::instants::{Crash, World, at_each_instant, never_after, whichever_commit_fails};

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
/// How long the handler sleeps.
pub(crate) const SLEEP: Duration = Duration::from_secs(3 * 60 * 60);
/// Whoever does not wait has gone on before that.
const SOON: Duration = Duration::from_secs(60);

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Job {
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

fn say(text: impl Into<String>) -> JobUpdate {
    Job::update().log([text.into()])
}

async fn first(_: &Job, cx: &ContextWith<World>) -> JobUpdate {
    cx.context().note("first");
    say("first")
}

async fn work(_: &Job, cx: &ContextWith<World>) -> Result<JobUpdate> {
    cx.context().note(format!("attempt {}", cx.attempt()));
    cx.context().note(format!("failed {}", cx.attempt()));
    bail!("no power")
}

async fn rescue(_: &Job, failure: &NodeFailure, cx: &ContextWith<World>) -> Result<JobUpdate> {
    cx.context().note("rescue");
    let mend = async {
        cx.context().note("mended");
        Ok::<_, NodeError>(())
    };
    cx.context().note("asleep");
    cx.sleep(SLEEP).await;
    cx.context().note("awake");
    cx.step("mend", mend).await?;
    cx.context().note("kept");
    Ok(say(format!("rescued from {}", failure.attempt)))
}

async fn beside(_: &Job, cx: &ContextWith<World>) -> JobUpdate {
    cx.context().note("beside");
    say("beside")
}

async fn last(_: &Job, cx: &ContextWith<World>) -> JobUpdate {
    cx.context().note("last");
    say("last")
}

fn job() -> StateGraph<Job, World> {
    StateGraph::<Job>::with_context::<World>()
}

pub(crate) fn alone(backoff: Duration) -> Graph<Job, World> {
    let graph = job().edge(START, first).edge(first, work).edge(work, last).edge(last, END);
    let retry = Retry::attempts(2).backoff(backoff).max_backoff(HOUR);
    graph.policy(work, Policy::new().retry(retry)).on_error(work, rescue).compile().unwrap()
}

pub(crate) fn with_sibling(backoff: Duration) -> Graph<Job, World> {
    let graph =
        job().edge(START, first).edge(first, (work, beside)).join((work, beside), last).edge(last, END);
    let retry = Retry::attempts(2).backoff(backoff).max_backoff(HOUR);
    graph.policy(work, Policy::new().retry(retry)).on_error(work, rescue).compile().unwrap()
}

/// The same as a call: within one, or within a call within one.
pub(crate) fn called(inner: Graph<Job, World>) -> Graph<Job, World> {
    let inner = inner.as_node("inner");
    job().edge(START, first).edge(first, &inner).edge(&inner, last).edge(last, END).compile().unwrap()
}

async fn keeps_what_was_known(graph: &Graph<Job, World>, log: &[&str]) {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [(0, 0), (3, 0), (0, 30)] {
            let crashes = at_each_instant(graph, Job::input, durability, slow).await;
            assert!(crashes.len() > 15);
            crashes.iter().for_each(|crash| holds(crash, durability, log));
        }
        let crashes = whichever_commit_fails(graph, Job::input, durability).await;
        assert!(crashes.len() > 5);
        crashes.iter().for_each(|crash| holds(crash, durability, log));
    }
}

/// What was known to be durable is not done again.
pub(crate) fn is_kept<'n>(notes: impl Iterator<Item = &'n str> + Clone, durability: Durability, about: &str) {
    let never_after =
        |first, then| assert!(never_after(first, then, notes.clone()), "{about}: {first}, {then}");
    // A step that has come back.
    never_after("kept", "mended");
    if durability != Durability::Exit {
        // A node whose handler is asked.
        never_after("rescue", "attempt 1");
        never_after("rescue", "attempt 2");
    }
    if durability == Durability::Sync {
        never_after("attempt 2", "attempt 1");
    }
}

fn holds(crash: &Crash<Job>, durability: Durability, log: &[&str]) {
    let about = &crash.about;
    assert_eq!(crash.state.log, log, "{about}");
    is_kept(crash.all(), durability, about);
    // A sleep that has begun does not begin anew: meanwhile its time has come.
    if crash.had_long("asleep") && !crash.had("awake") {
        assert!(crash.then("awake").is_some_and(|then| then < SOON), "{about}");
    }
    if durability == Durability::Exit {
        return;
    }
    // Whoever waits for its next attempt waits for the rest: by now there is none. That it waits may be what was not written.
    if crash.had_long("failed 1") && (!crash.store_failed || durability == Durability::Sync) {
        assert_eq!(crash.then("attempt 1"), None, "{about}");
        assert!(crash.then("attempt 2").is_none_or(|second| second < SOON), "{about}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_a_handler_and_its_sleep_go_on_after_a_crash_at_any_instant() {
    keeps_what_was_known(&alone(Duration::ZERO), &["first", "rescued from 2", "last"]).await;
    keeps_what_was_known(&with_sibling(HOUR), &["first", "rescued from 2", "beside", "last"]).await;
}

#[tokio::test(start_paused = true)]
async fn so_they_do_within_a_call() {
    let log = ["first", "first", "rescued from 2", "last", "last"];
    keeps_what_was_known(&called(alone(Duration::ZERO)), &log).await;
    let log = ["first", "first", "rescued from 2", "beside", "last", "last"];
    keeps_what_was_known(&called(with_sibling(HOUR)), &log).await;
    let log = ["first", "first", "first", "rescued from 2", "last", "last", "last"];
    keeps_what_was_known(&called(called(alone(HOUR))), &log).await;
}
