//! Invalid cache policies, and graphs without a cache.

use std::time::Duration;

use expect_test::expect;
use serde::{Deserialize, Serialize};
use superstep::cache::{CachePolicy, MemoryCache};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::subgraph::ParentCommand;
use superstep::thread::as_node;
use superstep::{END, ErrorKind, Route, START, StateGraph};

use super::Page;
use crate::engine::trace::block_on;

#[derive(Serialize, Deserialize)]
struct Part(u8);

#[derive(Serialize, Deserialize)]
struct Other;

#[derive(Route)]
enum Parts {
    #[to(read)]
    Part(Part),
}

async fn a(_: &Page) {}

async fn b(_: &Page) {}

async fn stranger(_: &Page) {}

async fn split(_: &Page) -> Vec<Parts> {
    vec![Parts::Part(Part(1))]
}

async fn read(_: &Part) {}

async fn aloud(_: &Page) -> ParentCommand<Page> {
    ParentCommand::update(Page::update())
}

fn one(_: &Page) -> u8 {
    1
}

#[test]
fn cache_policy_errors_are_reported_together() {
    let inner = StateGraph::<Page>::new().edge(START, b).edge(b, END).compile().unwrap().as_node("inner");
    let error = StateGraph::<Page>::new()
        .edge(START, a)
        .edge(a, b)
        .edge(b, &inner)
        .edge(&inner, (split, aloud))
        .edge(aloud, END)
        .edge(read, END)
        .cache(a, CachePolicy::by(one).ttl(Duration::ZERO))
        .cache(b, CachePolicy::by(one).ttl(Duration::from_secs(u64::MAX)))
        .cache(b, CachePolicy::by(|_: &Page| 2))
        .cache(stranger, CachePolicy::by(one))
        .cache(read, CachePolicy::by(one))
        .cache(split, CachePolicy::by(|_: &Other, _: &Page| 3))
        .cache(&inner, CachePolicy::by(one))
        .cache(aloud, CachePolicy::by(one))
        .compile()
        .unwrap_err();
    expect![[r#"
        graph `Page`: cannot be built, it has 8 mistakes
          the cache policy of node `a` has a `ttl` of less than a millisecond: set a longer one, or remove the policy
          the cache policy of node `b` has a `ttl` of more than a thousand years: leave `ttl` out to keep results for ever
          node `b` has two cache policies: remove one of them
          `stranger` is given a cache policy, but is not in the graph: add it with an edge or `.node(stranger)`
          the cache key of node `read` does not read the packet `runs::caches::wiring::Part`, so all packets would share one result: add a parameter `&runs::caches::wiring::Part` to the key function (`_: &runs::caches::wiring::Part` if sharing is intended)
          the cache key of node `split` reads the packet `runs::caches::wiring::Other`, which the node is not sent: remove that parameter from the key function
          the cache policy of node `inner` is for a subgraph, whose checkpoints and events a cached result would skip: cache nodes inside the subgraph
          the cache policy of node `aloud` is for a node that returns `ParentCommand`, which cannot be cached: remove the policy"#]].assert_eq(&error.to_string());
}

#[test]
fn graph_without_a_cache_refuses_to_run() {
    block_on(async {
        let graph = StateGraph::<Page>::new()
            .edge(START, a)
            .edge(a, b)
            .edge(b, END)
            .cache(a, CachePolicy::by(one))
            .cache(b, CachePolicy::by(one))
            .compile()
            .unwrap();
        let error = graph.run(Page::input("/a")).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NoCache { nodes , .. } if *nodes == ["a", "b"]));
        assert_eq!(
            error.to_string(),
            "graph `Page`: there is no cache for the results of `a` and `b`: add one with `graph.with_cache(..)`"
        );
        let threads = graph.with_checkpointer(MemoryCheckpointer::new());
        let thread = threads.thread("ann");
        assert!(matches!(thread.run(Page::input("/a")).await.unwrap_err().kind(), ErrorKind::NoCache { .. }));
        // An update runs no node, so it needs no cache.
        thread.update(Page::update().url("/b").text("").note(None), as_node(a)).await.unwrap();
        let threads = threads.with_cache(MemoryCache::new());
        threads.thread("ann").resume(()).await.unwrap();
    });
}
