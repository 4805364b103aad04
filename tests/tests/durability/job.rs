//! The graph of the failure tests: a loop over a fan-out, with a durable step, deltas and overwrites.

use std::io;

use superstep::thread::Thread;
use superstep::{ContextWith, END, ErrorKind, Graph, GraphState, Overwrite, Route, START, StateGraph};

use crate::instrumented_store::stay_pending;
use crate::journal::Journal;

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Job {
    #[state(input)]
    pub(crate) rounds: u64,
    pub(crate) round: u64,
    /// One token for each task that ran.
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
    /// Reset in each round.
    #[state(reducer = append)]
    pub(crate) receipts: Vec<String>,
}

fn record_start(cx: &ContextWith<Journal>) -> String {
    cx.context().record(format!("ran {} {}", cx.superstep(), cx.node()));
    format!("{} {}", cx.superstep(), cx.node())
}

async fn deal(_: &Job, cx: &ContextWith<Journal>) -> JobUpdate {
    let token = record_start(cx);
    stay_pending(1).await;
    Job::update().log([token]).receipts(Overwrite(vec![format!("dealt {}", cx.superstep())]))
}

async fn left(_: &Job, cx: &ContextWith<Journal>) -> JobUpdate {
    Job::update().log([record_start(cx)])
}

async fn middle(_: &Job, cx: &ContextWith<Journal>) -> superstep::Result<JobUpdate> {
    let token = record_start(cx);
    let charge = async {
        stay_pending(2).await;
        cx.context().record(format!("stepped {token}"));
        Ok::<_, io::Error>(format!("charged {}", cx.superstep()))
    };
    let receipt = cx.step("charge", charge).await?;
    cx.context().record(format!("kept {token}"));
    stay_pending(3).await;
    Ok(Job::update().log([token]).receipts([receipt]))
}

async fn right(_: &Job, cx: &ContextWith<Journal>) -> JobUpdate {
    let token = record_start(cx);
    stay_pending(5).await;
    Job::update().log([token])
}

#[derive(Route)]
enum Then {
    #[to(deal)]
    Again,
    #[to(END)]
    Enough,
}

async fn collect(job: &Job, cx: &ContextWith<Journal>) -> (JobUpdate, Then) {
    let token = record_start(cx);
    let round = job.round + 1;
    let then = if round < job.rounds { Then::Again } else { Then::Enough };
    (Job::update().log([token]).round(round), then)
}

pub(crate) fn graph() -> Graph<Job, Journal> {
    StateGraph::<Job>::with_context::<Journal>()
        .edge(START, deal)
        .edge(deal, (left, middle, right))
        .join((left, middle, right), collect)
        .compile()
        .unwrap()
}

/// Returns the log after this number of supersteps.
pub(crate) fn log_after(supersteps: u64) -> Vec<String> {
    let nodes = |superstep: u64| match superstep % 3 {
        1 => &["deal"][..],
        2 => &["left", "middle", "right"],
        _ => &["collect"],
    };
    (1..=supersteps).flat_map(|at| nodes(at).iter().map(move |node| format!("{at} {node}"))).collect()
}

/// Returns the final state.
pub(crate) fn final_state(rounds: u64) -> Job {
    let at = 3 * rounds - 2;
    let receipts = vec![format!("dealt {at}"), format!("charged {}", at + 1)];
    Job { rounds, round: rounds, log: log_after(3 * rounds), receipts }
}

/// Asserts that a thread without forks has all checkpoints, each with the state of its step. Returns their ids.
pub(crate) async fn assert_history_is_complete(thread: &Thread<Job, Journal>, about: &str) -> Vec<String> {
    let history = thread.history().await.unwrap();
    for pair in history.windows(2) {
        assert_eq!(pair[0].parent, Some(pair[1].id), "{about}");
        assert_eq!(pair[0].step, pair[1].step + 1, "{about}");
    }
    for snapshot in &history {
        let Some(state) = &snapshot.state else { continue };
        assert_eq!(state.log, log_after(u64::try_from(snapshot.step).unwrap()), "{about}");
    }
    history.iter().map(|snapshot| snapshot.id.to_string()).collect()
}

/// Returns `true` if nothing is stored of the thread.
pub(crate) fn has_no_thread(error: &superstep::Error) -> bool {
    matches!(error.kind(), ErrorKind::NoThread { .. })
}
