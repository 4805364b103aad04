//! Cache hits replace the execution of a node, including its retries and error handler.

use std::sync::Arc;
use std::time::Duration;

use superstep::cache::{CachePolicy, MemoryCache};
use superstep::policy::{Policy, Retry};
use superstep::{ContextWith, END, NodeFailure, Result, START, StateGraph, bail};

use super::{Page, PageUpdate, by_url, draft, fetch, graph, run};
use crate::engine::trace::{Journal, block_on};

#[test]
fn node_runs_once_for_each_key() {
    block_on(async {
        let (graph, journal) = (graph(MemoryCache::new()), Arc::new(Journal::default()));
        for url in ["/a", "/b", "/a", "/a", "/b"] {
            let page = run(&graph, &journal, url).await;
            assert_eq!(page.text, format!("text of {url}"));
            assert_eq!(page.log, [format!("fetched {url}")]);
        }
        assert_eq!(journal.take(), ["fetch /a", "fetch /b"]);
    });
}

#[test]
fn graphs_with_one_name_share_cached_results() {
    block_on(async {
        let (cache, journal) = (MemoryCache::new(), Arc::new(Journal::default()));
        run(&graph(cache.clone()), &journal, "/a").await;
        run(&graph(cache.clone()), &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"]);
        let other = draft().name("another").cache(fetch, by_url()).compile().unwrap().with_cache(cache);
        run(&other, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"], "a graph with another name has its own results");
    });
}

#[test]
fn cached_results_can_be_cleared() {
    block_on(async {
        let (graph, journal) = (graph(MemoryCache::new()), Arc::new(Journal::default()));
        run(&graph, &journal, "/a").await;
        run(&graph, &journal, "/b").await;
        assert_eq!(graph.clear_cache_of(fetch).await.unwrap(), 2);
        assert_eq!(graph.clear_cache().await.unwrap(), 0);
        run(&graph, &journal, "/a").await;
        assert_eq!(graph.clear_cache().await.unwrap(), 1);
        assert_eq!(journal.take(), ["fetch /a", "fetch /b", "fetch /a"]);
        let error = graph.clear_cache_of(flaky).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "graph `Page`: has no node `flaky` whose results could be cleared, but `fetch`"
        );
        let error = draft().compile().unwrap().clear_cache().await.unwrap_err();
        assert_eq!(error.to_string(), "graph `Page`: there is no cache: add one with `graph.with_cache(..)`");
    });
}

async fn flaky(_: &Page, cx: &ContextWith<Journal>) -> Result<PageUpdate> {
    cx.context().note(format!("attempt {}", cx.attempt()));
    if cx.attempt() < 3 {
        bail!("busy");
    }
    Ok(Page::update().text("at last"))
}

async fn rescue(_: &Page, _: &NodeFailure, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note("rescue");
    Page::update().text("sorry")
}

#[test]
fn result_of_a_retried_node_is_cached() {
    block_on(async {
        let policy = Policy::new().retry(Retry::attempts(3)).timeout(Duration::from_secs(1));
        let graph = StateGraph::<Page>::with_context::<Journal>()
            .edge(START, flaky)
            .edge(flaky, END)
            .policy(flaky, policy)
            .on_error(flaky, rescue)
            .cache(flaky, by_url())
            .compile()
            .unwrap()
            .with_cache(MemoryCache::new());
        let journal = Arc::new(Journal::default());
        assert_eq!(run(&graph, &journal, "/a").await.text, "at last");
        assert_eq!(journal.take(), ["attempt 1", "attempt 2", "attempt 3"]);
        assert_eq!(run(&graph, &journal, "/a").await.text, "at last");
        assert!(journal.take().is_empty());
    });
}

async fn slow(page: &Page, cx: &ContextWith<Journal>) -> PageUpdate {
    cx.context().note("slow");
    tokio::time::sleep(Duration::from_secs(5)).await;
    Page::update().log([format!("slow {}", page.url)])
}

#[test]
fn cache_hits_keep_the_order_of_application() {
    let graph = StateGraph::<Page>::with_context::<Journal>()
        .edge(START, (slow, fetch))
        .edge(slow, END)
        .edge(fetch, END)
        .cache(slow, CachePolicy::by(|page: &Page| page.url.len()))
        .cache(fetch, by_url())
        .compile()
        .unwrap();
    let runs = || async {
        let graph = graph.with_cache(MemoryCache::new());
        let journal = Arc::new(Journal::default());
        let mut logs = Vec::new();
        for url in ["/a", "/a", "/b", "/a"] {
            logs.push(run(&graph, &journal, url).await.log);
        }
        (logs, journal.take().len())
    };
    let (logs, calls) = block_on(runs());
    assert_eq!(logs[0], ["slow /a", "fetched /a"]);
    assert_eq!(logs[1], logs[0]);
    assert_eq!(logs[2], ["slow /a", "fetched /b"], "both URLs have one key, so they share a result");
    assert_eq!(logs[3], logs[0]);
    assert_eq!(calls, 3);
}
