//! The graph that things go wrong in: a loop over a fan-out, with a durable step, deltas and overwrites.

use std::io;

use superstep::thread::Thread;
use superstep::{ContextWith, END, ErrorKind, Graph, GraphState, Overwrite, Route, START, StateGraph};

use crate::truth::Truth;
use crate::watched::pause;

#[derive(GraphState, Clone, Debug, PartialEq)]
pub(crate) struct Job {
    #[state(input)]
    pub(crate) rounds: u64,
    pub(crate) round: u64,
    /// One token for each task that ran.
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
    /// Begun anew in each round.
    #[state(reducer = append)]
    pub(crate) receipts: Vec<String>,
}

fn began(cx: &ContextWith<Truth>) -> String {
    cx.context().tell(format!("ran {} {}", cx.superstep(), cx.node()));
    format!("{} {}", cx.superstep(), cx.node())
}

async fn deal(_: &Job, cx: &ContextWith<Truth>) -> JobUpdate {
    let token = began(cx);
    pause(1).await;
    Job::update().log([token]).receipts(Overwrite(vec![format!("dealt {}", cx.superstep())]))
}

async fn left(_: &Job, cx: &ContextWith<Truth>) -> JobUpdate {
    Job::update().log([began(cx)])
}

async fn middle(_: &Job, cx: &ContextWith<Truth>) -> superstep::Result<JobUpdate> {
    let token = began(cx);
    let charge = async {
        pause(2).await;
        cx.context().tell(format!("stepped {token}"));
        Ok::<_, io::Error>(format!("charged {}", cx.superstep()))
    };
    let receipt = cx.step("charge", charge).await?;
    cx.context().tell(format!("kept {token}"));
    pause(3).await;
    Ok(Job::update().log([token]).receipts([receipt]))
}

async fn right(_: &Job, cx: &ContextWith<Truth>) -> JobUpdate {
    let token = began(cx);
    pause(5).await;
    Job::update().log([token])
}

#[derive(Route)]
enum Then {
    #[to(deal)]
    Again,
    #[to(END)]
    Enough,
}

async fn collect(job: &Job, cx: &ContextWith<Truth>) -> (JobUpdate, Then) {
    let token = began(cx);
    let round = job.round + 1;
    let then = if round < job.rounds { Then::Again } else { Then::Enough };
    (Job::update().log([token]).round(round), then)
}

pub(crate) fn graph() -> Graph<Job, Truth> {
    StateGraph::<Job>::with_context::<Truth>()
        .edge(START, deal)
        .edge(deal, (left, middle, right))
        .join((left, middle, right), collect)
        .compile()
        .unwrap()
}

/// The log after so many supersteps.
pub(crate) fn log_after(supersteps: u64) -> Vec<String> {
    let nodes = |superstep: u64| match superstep % 3 {
        1 => &["deal"][..],
        2 => &["left", "middle", "right"],
        _ => &["collect"],
    };
    (1..=supersteps).flat_map(|at| nodes(at).iter().map(move |node| format!("{at} {node}"))).collect()
}

/// The state at the end.
pub(crate) fn end(rounds: u64) -> Job {
    let at = 3 * rounds - 2;
    let receipts = vec![format!("dealt {at}"), format!("charged {}", at + 1)];
    Job { rounds, round: rounds, log: log_after(3 * rounds), receipts }
}

/// Every checkpoint of a thread without branches is there, and holds what its step says and nothing else.
pub(crate) async fn is_whole(thread: &Thread<Job, Truth>, about: &str) -> Vec<String> {
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

/// Whether nothing has been stored of a thread yet.
pub(crate) fn is_new(error: &superstep::Error) -> bool {
    matches!(error.kind(), ErrorKind::NoThread { .. })
}
