//! Crashes during a backoff, a sleep or an error handler: durable knowledge is kept.

use std::time::Duration;

use superstep::policy::{Policy, Retry};
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeError, NodeFailure, Result, START, StateGraph, bail,
};

use crate::crashes::{Crash, Timeline, crash_at_each_instant, fail_each_commit, never_after};

pub(crate) const HOUR: Duration = Duration::from_secs(60 * 60);
/// The handler's sleep.
pub(crate) const SLEEP: Duration = Duration::from_secs(3 * 60 * 60);
/// A run without a wait finishes within this time.
const SOON: Duration = Duration::from_secs(60);

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Job {
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

fn say(text: impl Into<String>) -> JobUpdate {
    Job::update().log([text.into()])
}

async fn first(_: &Job, cx: &ContextWith<Timeline>) -> JobUpdate {
    cx.context().note("first");
    say("first")
}

async fn work(_: &Job, cx: &ContextWith<Timeline>) -> Result<JobUpdate> {
    cx.context().note(format!("attempt {}", cx.attempt()));
    cx.context().note(format!("failed {}", cx.attempt()));
    bail!("no power")
}

async fn rescue(_: &Job, failure: &NodeFailure, cx: &ContextWith<Timeline>) -> Result<JobUpdate> {
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

async fn beside(_: &Job, cx: &ContextWith<Timeline>) -> JobUpdate {
    cx.context().note("beside");
    say("beside")
}

async fn last(_: &Job, cx: &ContextWith<Timeline>) -> JobUpdate {
    cx.context().note("last");
    say("last")
}

fn job() -> StateGraph<Job, Timeline> {
    StateGraph::<Job>::with_context::<Timeline>()
}

pub(crate) fn alone(backoff: Duration) -> Graph<Job, Timeline> {
    let graph = job().edge(START, first).edge(first, work).edge(work, last).edge(last, END);
    let retry = Retry::attempts(2).backoff(backoff).max_backoff(HOUR);
    graph.policy(work, Policy::new().retry(retry)).on_error(work, rescue).compile().unwrap()
}

pub(crate) fn with_sibling(backoff: Duration) -> Graph<Job, Timeline> {
    let graph =
        job().edge(START, first).edge(first, (work, beside)).join((work, beside), last).edge(last, END);
    let retry = Retry::attempts(2).backoff(backoff).max_backoff(HOUR);
    graph.policy(work, Policy::new().retry(retry)).on_error(work, rescue).compile().unwrap()
}

/// The same graph as a subgraph, which can be nested again.
pub(crate) fn called(inner: Graph<Job, Timeline>) -> Graph<Job, Timeline> {
    let inner = inner.as_node("inner");
    job().edge(START, first).edge(first, &inner).edge(&inner, last).edge(last, END).compile().unwrap()
}

async fn check_crashes(graph: &Graph<Job, Timeline>, log: &[&str]) {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [(0, 0), (3, 0), (0, 30)] {
            let crashes = crash_at_each_instant(graph, Job::input, durability, slow).await;
            assert!(crashes.len() > 15);
            crashes.iter().for_each(|crash| assert_recovered(crash, durability, log));
        }
        let crashes = fail_each_commit(graph, Job::input, durability).await;
        assert!(crashes.len() > 5);
        crashes.iter().for_each(|crash| assert_recovered(crash, durability, log));
    }
}

/// Asserts that durable work was not repeated.
pub(crate) fn assert_durable_work_is_kept<'n>(
    notes: impl Iterator<Item = &'n str> + Clone,
    durability: Durability,
    about: &str,
) {
    let never_after =
        |first, then| assert!(never_after(first, then, notes.clone()), "{about}: {first}, {then}");
    // A finished step does not run again.
    never_after("kept", "mended");
    if durability != Durability::Exit {
        // A node does not run again once its handler was called.
        never_after("rescue", "attempt 1");
        never_after("rescue", "attempt 2");
    }
    if durability == Durability::Sync {
        never_after("attempt 2", "attempt 1");
    }
}

fn assert_recovered(crash: &Crash<Job>, durability: Durability, log: &[&str]) {
    let about = &crash.about;
    assert_eq!(crash.state.log, log, "{about}");
    assert_durable_work_is_kept(crash.all(), durability, about);
    // A sleep that had started does not start again: its time has come meanwhile.
    if crash.passed_long_before_crash("asleep") && !crash.noted_before_crash("awake") {
        assert!(crash.noted_after_restart("awake").is_some_and(|then| then < SOON), "{about}");
    }
    if durability == Durability::Exit {
        return;
    }
    // A backoff that had started has no rest left by now. A failed store may have lost the backoff itself.
    if crash.passed_long_before_crash("failed 1") && (!crash.store_failed || durability == Durability::Sync) {
        assert_eq!(crash.noted_after_restart("attempt 1"), None, "{about}");
        assert!(crash.noted_after_restart("attempt 2").is_none_or(|second| second < SOON), "{about}");
    }
}

#[tokio::test(start_paused = true)]
async fn backoff_and_handler_continue_after_a_crash_at_any_instant() {
    check_crashes(&alone(Duration::ZERO), &["first", "rescued from 2", "last"]).await;
    check_crashes(&with_sibling(HOUR), &["first", "rescued from 2", "beside", "last"]).await;
}

#[tokio::test(start_paused = true)]
async fn backoff_and_handler_inside_a_call_continue_after_a_crash() {
    let log = ["first", "first", "rescued from 2", "last", "last"];
    check_crashes(&called(alone(Duration::ZERO)), &log).await;
    let log = ["first", "first", "rescued from 2", "beside", "last", "last"];
    check_crashes(&called(with_sibling(HOUR)), &log).await;
    let log = ["first", "first", "first", "rescued from 2", "last", "last", "last"];
    check_crashes(&called(called(alone(HOUR))), &log).await;
}
