//! Policies: retries, timeouts and error handlers.

mod error_handlers;
mod retries;
mod stopped_backoffs;
mod timeouts;
mod wiring;

use std::sync::Arc;
use std::time::Duration;

use superstep::policy::Policy;
use superstep::{
    ContextWith, END, Error, ErrorKind, Graph, NodeError, NodeFailure, Result, START, StateGraph, bail,
};
use tokio::time::Instant;

use crate::engine::trace::{Journal, Trace, TraceUpdate, ran};

/// The context of `flaky`, which fails in the first `fails` attempts.
pub(crate) struct World {
    pub(crate) journal: Journal,
    pub(crate) fails: u32,
    pub(crate) started: Instant,
}

pub(crate) fn world(fails: u32) -> Arc<World> {
    Arc::new(World { journal: Journal::default(), fails, started: Instant::now() })
}

#[derive(Debug, thiserror::Error)]
#[error("status {0}")]
pub(crate) struct Status(pub(crate) u16);

#[derive(Debug, thiserror::Error)]
#[error("the page cannot be read")]
pub(crate) struct Unread(#[source] pub(crate) Status);

/// Records each attempt and its time, and fails as often as the context says.
pub(crate) async fn flaky(_: &Trace, cx: &ContextWith<World>) -> Result<TraceUpdate> {
    let world = cx.context();
    world.journal.note(format!("{}@{}", cx.attempt(), world.started.elapsed().as_millis()));
    if cx.attempt() <= world.fails {
        bail!("attempt {} fails", cx.attempt());
    }
    Ok(ran(cx))
}

pub(crate) fn graph_of(policy: Policy) -> Graph<Trace, World> {
    StateGraph::<Trace>::with_context::<World>()
        .edge(START, flaky)
        .edge(flaky, END)
        .policy(flaky, policy)
        .compile()
        .unwrap()
}

pub(crate) const SECOND: Duration = Duration::from_secs(1);

/// The only failure of a run.
#[track_caller]
pub(crate) fn failure(error: &Error) -> &NodeFailure {
    let ErrorKind::Node { first, others, .. } = error.kind() else { panic!("{error}") };
    assert!(others.is_empty());
    first
}

pub(crate) fn error(text: &str) -> NodeError {
    NodeError::msg(text)
}
