//! Node results in a file, alone and next to checkpoints.

use std::sync::atomic::{AtomicU32, Ordering};

use superstep::cache::CachePolicy;
use superstep::{END, EventKind, Graph, GraphState, START, StateGraph};
use superstep_sqlite::SqliteCache;

use crate::fixture::{File, wait};

#[derive(GraphState, Clone)]
struct Page {
    #[state(input)]
    url: String,
    text: String,
}

/// A graph with one node, which returns the number of its executions.
fn graph(runs: &'static AtomicU32) -> Graph<Page> {
    let fetch = superstep::named("fetch", async move |page: &Page| {
        let nth = runs.fetch_add(1, Ordering::SeqCst) + 1;
        Page::update().text(format!("{} {nth}", page.url))
    });
    let graph = StateGraph::<Page>::new().edge(START, &fetch).edge(&fetch, END);
    graph.cache(&fetch, CachePolicy::by(|page: &Page| page.url.clone())).compile().unwrap()
}

#[test]
fn cached_results_share_the_file_and_survive_a_restart() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let file = File::new();
    for process in 0..2 {
        let store = file.open();
        let graph = graph(&RUNS).with_cache(store.store().cache()).with_store(store.store());
        let threads = graph.with_cache(store.cache()).with_checkpointer(store);
        let thread = threads.thread(format!("t{process}"));
        assert_eq!(wait(thread.run(Page::input("/a"))).unwrap().state().text, "/a 1");
    }
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    let seen: (String, String, String) = file
        .sql()
        .query_row("SELECT graph, node, key FROM results", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!(seen, ("Page".to_owned(), "fetch".to_owned(), "\"/a\"".to_owned()));
}

#[test]
fn broken_cache_is_reported_and_fails_no_run() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let file = File::new();
    let graph = graph(&RUNS).with_cache(SqliteCache::open(file.path()).unwrap());
    wait(graph.run(Page::input("/a"))).unwrap();
    file.sql().execute_batch("DROP TABLE cache_entry").unwrap();
    let mut reasons = Vec::new();
    let run = graph.run(Page::input("/a")).stream().for_each(|event| {
        if let EventKind::TaskNotCached { reason, .. } = &event.kind {
            reasons.push(reason.clone());
        }
    });
    assert_eq!(wait(run).unwrap().state().text, "/a 2");
    let [read, write] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert!(read.starts_with("the cache could not read a result: no such table: cache_entry"), "{read}");
    assert!(write.starts_with("the cache could not write results: no such table: cache_entry"), "{write}");
}
