//! Expiry of cached results.

use std::sync::Arc;
use std::time::Duration;

use super::{RecordingCache, by_url, draft, fetch, run};
use crate::engine::trace::{Journal, block_on};

#[test]
fn result_is_used_until_it_expires() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = draft().cache(fetch, by_url().ttl(Duration::from_secs(60)));
        let graph = graph.compile().unwrap().with_cache(cache.clone());
        run(&graph, &journal, "/a").await;
        cache.advance(Duration::from_secs(58));
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"]);
        cache.advance(Duration::from_secs(2));
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"]);
        cache.advance(Duration::from_secs(58));
        run(&graph, &journal, "/a").await;
        assert!(journal.take().is_empty(), "the result was cached again");
    });
}

#[test]
fn expiry_follows_the_clock_of_timers() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = draft().cache(fetch, by_url().ttl(Duration::from_secs(60)));
        let graph = graph.compile().unwrap().with_cache(cache.clone());
        run(&graph, &journal, "/a").await;
        tokio::time::advance(Duration::from_secs(61)).await;
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"; 2]);
    });
}

#[test]
fn result_without_ttl_never_expires() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = super::graph(cache.clone());
        run(&graph, &journal, "/a").await;
        cache.advance(Duration::from_secs(1_000_000_000));
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"]);
    });
}
