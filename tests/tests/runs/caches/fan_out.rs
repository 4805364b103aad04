//! Cached nodes in fan-outs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use superstep::cache::CachePolicy;
use superstep::{ContextWith, END, Graph, Route, START, StateGraph};

use super::{Page, PageUpdate, RecordingCache, run};
use crate::engine::trace::{Journal, block_on, workers};

#[derive(Serialize, Deserialize)]
struct Job {
    number: u8,
    topic: String,
}

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
}

async fn deal(_: &Page) -> Vec<Deal> {
    let job = |number: u8| Deal::Work(Job { number, topic: if number < 3 { "a" } else { "b" }.to_owned() });
    (1..=4).map(job).collect()
}

async fn work(job: &Job, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note(format!("work {}", job.number));
    Page::update().log([format!("{} by {}", job.topic, job.number)])
}

fn fan_out(cache: &RecordingCache) -> Graph<Page, Journal> {
    StateGraph::<Page>::with_context::<Journal>()
        .edge(START, deal_first)
        .node(deal)
        .route(deal_first, |_: &Page| First::Deal)
        .edge(work, END)
        .cache(work, CachePolicy::by(|job: &Job| job.topic.clone()))
        .compile()
        .unwrap()
        .with_cache(cache.clone())
}

async fn deal_first(_: &Page) {}

#[derive(Route)]
enum First {
    #[to(deal)]
    Deal,
}

#[test]
fn concurrent_tasks_with_one_key_cache_the_last_result() {
    let on_one = |future: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| block_on(future);
    let on_many = |future: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| workers(4).block_on(future);
    for runs in [on_one as fn(_), on_many] {
        runs(Box::pin(async {
            let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
            let graph = fan_out(&cache);
            let log = run(&graph, &journal, "/").await.log;
            assert_eq!(log, ["a by 1", "a by 2", "b by 3", "b by 4"]);
            assert_eq!(journal.take().len(), 4);
            let calls = cache.take();
            assert_eq!(
                calls.last().unwrap(),
                r#"put "a" "a" "b" "b""#,
                "one call, in the order of application"
            );
            let log = run(&graph, &journal, "/").await.log;
            assert_eq!(log, ["a by 2", "a by 2", "b by 4", "b by 4"]);
            assert!(journal.take().is_empty());
        }));
    }
}

#[test]
fn concurrency_limit_applies_to_cache_lookups() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = fan_out(&cache);
        for _ in 0..2 {
            let run = graph.run(Page::input("/")).context(Arc::clone(&journal)).max_concurrency(1);
            assert_eq!(run.await.unwrap().state().log.len(), 4);
        }
        // No result is cached before the superstep is applied, so every task runs in the first run.
        assert_eq!(journal.take(), ["work 1", "work 2", "work 3", "work 4"]);
    });
}
