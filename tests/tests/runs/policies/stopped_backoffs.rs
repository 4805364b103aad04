//! Runs that are dropped or stopped during a backoff.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use superstep::policy::{Policy, Retry};
use superstep::{ContextWith, END, ErrorKind, Graph, Result, START, StateGraph};
use tokio::time::timeout;

use super::{SECOND, World, error, failure, flaky, graph_of, world};
use crate::engine::trace::{Trace, TraceUpdate, block_on, workers};

#[test]
fn interrupted_backoff_continues_with_its_remainder() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(2).backoff(60 * SECOND)));
    block_on(async {
        let world = world(1);
        let mut run = graph.run(Trace::input()).context(Arc::clone(&world)).start().unwrap();
        timeout(20 * SECOND, run.step()).await.unwrap_err();
        while run.step().await.unwrap() {}
        assert_eq!(run.state().log, ["1:flaky"]);
        // The system clock, which measures the remaining wait, is not paused.
        let notes = world.journal.take();
        let second: u32 = notes[1].strip_prefix("2@").unwrap().parse().unwrap();
        assert!((58_000..=60_001).contains(&second), "{notes:?}");
    });
}

#[test]
fn superstep_timeout_does_not_extend_the_backoff() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(2).backoff(60 * SECOND)));
    block_on(async {
        let run = graph.run(Trace::input()).context(world(1)).superstep_timeout(40 * SECOND);
        let mut run = run.start().unwrap();
        let error = run.step().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::SuperstepTimeout { .. }), "{error}");
        while run.step().await.unwrap() {}
    });
}

#[test]
fn failing_sibling_keeps_the_attempt_count() {
    async fn fails(_: &Trace, cx: &ContextWith<World>) -> Result<TraceUpdate> {
        if cx.attempt() == 1 {
            tokio::time::sleep(30 * SECOND).await;
            return Err(error("no"));
        }
        Ok(TraceUpdate::default())
    }
    let graph = StateGraph::<Trace>::with_context::<World>()
        .edge(START, (flaky, fails))
        .edge(flaky, END)
        .edge(fails, END)
        .policy(flaky, Policy::new().retry(Retry::attempts(2).backoff(60 * SECOND)))
        .compile()
        .unwrap();
    block_on(async {
        let mut run = graph.run(Trace::input()).context(world(9)).start().unwrap();
        let error = run.step().await.unwrap_err();
        assert_eq!(failure(&error).node, "fails");
        let error = run.step().await.unwrap_err();
        assert_eq!((failure(&error).node.as_str(), failure(&error).attempt), ("flaky", 2));
    });
}

/// Drops a step after `polls` polls, then finishes the run. Returns `true` if the step had finished.
async fn dropped_after(graph: &Graph<Trace, World>, polls: u32) -> bool {
    let world = world(2);
    let mut run = graph.run(Trace::input()).context(Arc::clone(&world)).start().unwrap();
    let mut polled = 0;
    let ended = {
        let mut step = Box::pin(run.step());
        poll_fn(|cx| {
            if polled == polls {
                return Poll::Ready(false);
            }
            polled += 1;
            step.as_mut().poll(cx).map(|result| result.unwrap())
        })
        .await
    };
    while run.step().await.unwrap() {}
    assert_eq!(run.state().log, ["1:flaky"], "{polls}");
    let attempts: Vec<u32> =
        world.journal.take().iter().map(|note| note.split_once('@').unwrap().0.parse().unwrap()).collect();
    assert!(attempts.is_sorted() && attempts.last() == Some(&3), "{polls}: {attempts:?}");
    ended
}

#[test]
fn dropped_run_continues_its_retries() {
    let graph = graph_of(Policy::new().retry(Retry::attempts(3).backoff(SECOND / 1000)));
    let all = async || {
        let mut polls = 0;
        while !dropped_after(&graph, polls).await {
            polls += 1;
        }
        assert!(polls > 1);
    };
    block_on(all());
    workers(2).block_on(all());
}
