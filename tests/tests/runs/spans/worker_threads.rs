//! Spans of tasks on worker threads.

use std::sync::Arc;

use superstep::{ContextWith, END, Graph, START, StateGraph};
use tests::spans::Recorded;
use tokio::sync::Barrier;
use tracing::{Instrument as _, info, info_span};

use super::{Case, CaseUpdate, note};
use crate::engine::trace::workers;

async fn left(case: &Case, both: &ContextWith<Barrier>) -> CaseUpdate {
    info!(words = "left, before");
    // Waits until both tasks have started.
    both.context().wait().await;
    info!(words = "left, behind");
    note(case)
}

async fn right(case: &Case, both: &ContextWith<Barrier>) -> CaseUpdate {
    info!(words = "right, before");
    both.context().wait().await;
    info!(words = "right, behind");
    note(case)
}

fn graph() -> Graph<Case, Barrier> {
    let graph = StateGraph::<Case>::with_context().edge(START, (left, right)).join((left, right), END);
    graph.compile().unwrap()
}

#[test]
fn tasks_on_worker_threads_are_inside_their_superstep() {
    let recorded = Recorded::here();
    workers(2).block_on(
        async {
            graph().run(Case::input()).context(Arc::new(Barrier::new(2))).await.unwrap();
        }
        .instrument(info_span!("request")),
    );
    expect_test::expect![[r#"
        request
          run run.begin=input supersteps=1 outcome=done
            superstep step=1 tasks=2 outcome=done
              node node=left step=1 task=0 attempt=1 outcome=ok
                event words=left, before
                event words=left, behind
              node node=right step=1 task=1 attempt=1 outcome=ok
                event words=right, before
                event words=right, behind
    "#]]
    .assert_eq(&recorded.short());
}

async fn stands_still(_: &Case, both: &ContextWith<Barrier>) {
    both.context().wait().await;
    std::future::pending().await
}

async fn so_does_this(_: &Case, both: &ContextWith<Barrier>) {
    both.context().wait().await;
    std::future::pending().await
}

#[test]
fn dropped_run_closes_spans_on_worker_threads() {
    let recorded = Recorded::here();
    // The registry closes the parent of a span through the subscriber of the thread that closes the span.
    let subscriber = tracing::dispatcher::get_default(Clone::clone);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(move || std::mem::forget(tracing::dispatcher::set_default(&subscriber)))
        .build()
        .unwrap();
    runtime.block_on(async {
        let graph = StateGraph::<Case>::with_context().edge(START, (stands_still, so_does_this));
        let graph = graph.join((stands_still, so_does_this), END).compile().unwrap();
        let both = Arc::new(Barrier::new(3));
        let run = graph.run(Case::input()).context(Arc::clone(&both));
        // The run is dropped after both tasks have started.
        tokio::select! { _ = run => unreachable!(), _ = both.wait() => {} }
    });
    // Worker threads drop the tasks, so wait for their shutdown.
    drop(runtime);
    expect_test::expect![[r#"
        run run.begin=input supersteps=0 outcome=cancelled
          superstep step=1 tasks=2 outcome=cancelled
            node node=stands_still step=1 task=0 attempt=1 outcome=cancelled
            node node=so_does_this step=1 task=1 attempt=1 outcome=cancelled
    "#]]
    .assert_eq(&recorded.short());
}
