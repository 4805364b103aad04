//! A claim that waits for an approval.

use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use superstep::interrupt::{Answer, Question};
use superstep::thread::Thread;
use superstep::{ErrorKind, GraphState};

pub(crate) const DAY: Duration = Duration::from_secs(24 * 60 * 60);
pub(crate) const SECOND: Duration = Duration::from_secs(1);

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Claim {
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

/// The work that nodes did, and a switch for the code that they run.
#[derive(Debug, Default)]
pub(crate) struct Office {
    pub(crate) done: Mutex<Vec<String>>,
    pub(crate) version: Mutex<u32>,
}

impl Office {
    pub(crate) fn note(&self, text: impl Into<String>) {
        self.done.lock().unwrap().push(text.into());
    }

    pub(crate) fn done(&self) -> Vec<String> {
        self.done.lock().unwrap().clone()
    }

    pub(crate) fn version(&self) -> u32 {
        *self.version.lock().unwrap()
    }

    pub(crate) fn deploy(&self, version: u32) {
        *self.version.lock().unwrap() = version;
    }
}

pub(crate) fn office() -> Arc<Office> {
    Arc::default()
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// Another question.
#[derive(Serialize, Deserialize)]
pub(crate) struct Reason;

impl Question for Reason {
    type Answer = String;
}

pub(crate) fn say(text: impl Into<String>) -> ClaimUpdate {
    Claim::update().log([text.into()])
}

/// A graph of one node.
#[macro_export]
macro_rules! graph_of {
    ($node:expr) => {
        superstep::StateGraph::<$crate::claim::Claim>::with_context::<$crate::claim::Office>()
            .edge(superstep::START, $node)
            .edge($node, superstep::END)
            .compile()
            .unwrap()
    };
}

/// Returns an answer to the thread's open question.
pub(crate) async fn approval(thread: &Thread<Claim, Office>) -> Answer {
    thread.interrupts().await.unwrap().only::<Approve>().unwrap().answer(true)
}

/// Polls a run until `done` says so, and drops it, as a crash would end it.
pub(crate) async fn crash_when<T>(run: impl Future<Output = T>, done: impl Fn() -> bool) {
    let mut run = std::pin::pin!(run);
    let started = Instant::now();
    while started.elapsed() < Duration::from_secs(60) {
        if done() {
            return;
        }
        let polled = std::future::poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx).is_ready())).await;
        assert!(!polled, "the run has ended");
        tokio::task::yield_now().await;
    }
    panic!("the run does not come this far");
}

/// Returns the text of a failed node's error.
pub(crate) fn node_error(error: &superstep::Error) -> String {
    match error.kind() {
        ErrorKind::Node { first, .. } => first.error.to_string(),
        other => panic!("{other:?}"),
    }
}
