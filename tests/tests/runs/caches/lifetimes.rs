//! How long a result is used.

use std::sync::Arc;
use std::time::Duration;

use super::{Shown, by_url, draft, fetch, run};
use crate::engine::trace::{Journal, here};

#[test]
fn a_result_is_used_until_its_time_is_up() {
    here(async {
        let (cache, journal) = (Shown::default(), Arc::new(Journal::default()));
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
        assert!(journal.take().is_empty(), "it was put anew");
    });
}

#[test]
fn the_clock_of_a_run_is_that_of_its_timers() {
    here(async {
        let (cache, journal) = (Shown::default(), Arc::new(Journal::default()));
        let graph = draft().cache(fetch, by_url().ttl(Duration::from_secs(60)));
        let graph = graph.compile().unwrap().with_cache(cache.clone());
        run(&graph, &journal, "/a").await;
        tokio::time::advance(Duration::from_secs(61)).await;
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"; 2]);
    });
}

#[test]
fn without_a_time_to_live_a_result_is_used_for_ever() {
    here(async {
        let (cache, journal) = (Shown::default(), Arc::new(Journal::default()));
        let graph = super::graph(cache.clone());
        run(&graph, &journal, "/a").await;
        cache.advance(Duration::from_secs(1_000_000_000));
        run(&graph, &journal, "/a").await;
        assert_eq!(journal.take(), ["fetch /a"]);
    });
}
