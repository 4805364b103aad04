//! Backpressure: a run waits for a slow listener without deadlock.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};
use superstep::{Context, ContextWith, END, EventKind, Graph, Route, START, StateGraph, StreamMode};
use tokio::sync::Barrier;

use crate::engine::trace::{Trace, TraceUpdate, block_on, workers};

/// The number of events that a run can be ahead of its listener.
const AHEAD: usize = 64;

#[derive(Default)]
struct Sent(AtomicUsize);

async fn talks(_: &Trace, cx: &ContextWith<Sent>) -> TraceUpdate {
    for number in 0..1000_u32 {
        cx.emit(number).await;
        cx.context().0.fetch_add(1, Ordering::Relaxed);
    }
    TraceUpdate::default()
}

#[test]
fn emitting_node_waits_for_a_slow_listener() {
    let graph =
        StateGraph::<Trace>::with_context::<Sent>().edge(START, talks).edge(talks, END).compile().unwrap();
    let sent = std::sync::Arc::new(Sent::default());
    let mut events = graph.run(Trace::input()).context(sent.clone()).events([StreamMode::Custom]).stream();
    block_on(async {
        for number in 0..1000_u32 {
            let event = events.next().await.unwrap().unwrap();
            let EventKind::Custom { value, .. } = event.kind else { panic!("{event:?}") };
            assert_eq!(value.get(), Some(&number));
            let ahead = sent.0.load(Ordering::Relaxed) - number as usize;
            assert!(ahead <= AHEAD, "{ahead} ahead");
        }
        assert!(matches!(events.next().await.unwrap().unwrap().kind, EventKind::Done(_)));
        assert!(events.next().await.is_none());
    });
}

#[derive(Serialize, Deserialize)]
struct Job(u32);

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
}

async fn deal(_: &Trace, cx: &ContextWith<Barrier>) -> Vec<Deal> {
    assert_eq!(cx.superstep(), 1);
    (0..300).map(|number| Deal::Work(Job(number))).collect()
}

/// Waits until every task has started, so that all of them emit concurrently.
async fn work(job: &Job, cx: &ContextWith<Barrier>) -> TraceUpdate {
    cx.emit(job.0).await;
    cx.context().wait().await;
    cx.emit(job.0).await;
    cx.emit(job.0).await;
    TraceUpdate::default()
}

fn count(runtime: impl FnOnce(std::pin::Pin<Box<dyn Future<Output = Vec<usize>> + Send>>) -> Vec<usize>) {
    let graph =
        StateGraph::<Trace>::with_context::<Barrier>().edge(START, deal).edge(work, END).compile().unwrap();
    let mut events = graph.run(Trace::input()).context(Barrier::new(300)).stream();
    let counted = runtime(Box::pin(async move {
        let mut counts = vec![0; 300];
        let limit = std::time::Duration::from_secs(60);
        while let Some(event) = tokio::time::timeout(limit, events.next()).await.unwrap() {
            if let EventKind::Custom { value, .. } = event.unwrap().kind {
                counts[*value.get::<u32>().unwrap() as usize] += 1;
            }
        }
        counts
    }));
    assert_eq!(counted, [3; 300]);
}

#[test]
fn more_tasks_than_channel_capacity_emit_concurrently() {
    count(block_on);
    count(|future| workers(2).block_on(future));
}

#[test]
fn large_fan_out_of_emitting_tasks_finishes() {
    #[derive(Route)]
    enum Many {
        #[to(twice)]
        Twice(Job),
    }
    async fn many() -> Vec<Many> {
        (0..3000).map(|number| Many::Twice(Job(number))).collect()
    }
    async fn twice(job: &Job, cx: &Context) -> TraceUpdate {
        cx.emit(job.0).await;
        cx.emit(job.0).await;
        TraceUpdate::default()
    }
    let graph: Graph<Trace> = StateGraph::new().edge(START, many).edge(twice, END).compile().unwrap();
    let count = || async {
        let mut events = graph.stream(Trace::input());
        let mut count = 0;
        let limit = std::time::Duration::from_secs(60);
        while let Some(event) = tokio::time::timeout(limit, events.next()).await.unwrap() {
            event.unwrap();
            count += 1;
        }
        count
    };
    // Three states, three events of `many`, five of each packet task, and the end.
    let expected = 3 + 3 + 3000 * 5 + 1;
    assert_eq!(block_on(count()), expected);
    assert_eq!(workers(2).block_on(count()), expected);
}
