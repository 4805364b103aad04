//! Results of nodes in a file, by themselves and beside checkpoints.

use std::sync::atomic::{AtomicU32, Ordering};

use superstep::cache::CachePolicy;
use superstep::{END, EventKind, Graph, GraphState, START, StateGraph};
use superstep_sqlite::SqliteCache;

use crate::kit::{File, wait};

#[derive(GraphState, Clone)]
struct Page {
    #[state(input)]
    url: String,
    text: String,
}

/// A graph of one node, which says the how-manieth time it has run.
fn graph(runs: &'static AtomicU32) -> Graph<Page> {
    let fetch = superstep::named("fetch", async move |page: &Page| {
        let nth = runs.fetch_add(1, Ordering::SeqCst) + 1;
        Page::update().text(format!("{} {nth}", page.url))
    });
    let graph = StateGraph::<Page>::new().edge(START, &fetch).edge(&fetch, END);
    graph.cache(&fetch, CachePolicy::by(|page: &Page| page.url.clone())).compile().unwrap()
}

#[test]
fn checkpoints_items_and_results_share_a_file_and_outlive_the_process() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let file = File::new();
    for process in 0..2 {
        let store = file.open();
        let graph = graph(&RUNS).with_cache(store.store().cache()).with_store(store.store());
        let threads = graph.with_cache(store.cache()).with_checkpointer(store);
        let thread = threads.thread(format!("t{process}"));
        assert_eq!(wait(thread.run(Page::input("/a")).into_future()).unwrap().state().text, "/a 1");
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
fn a_file_that_breaks_costs_no_run_and_says_so() {
    static RUNS: AtomicU32 = AtomicU32::new(0);
    let file = File::new();
    let graph = graph(&RUNS).with_cache(SqliteCache::open(file.path()).unwrap());
    wait(graph.run(Page::input("/a")).into_future()).unwrap();
    file.sql().execute_batch("DROP TABLE cache_entry").unwrap();
    let mut reasons = Vec::new();
    let run = graph.run(Page::input("/a")).stream().for_each(|event| {
        if let EventKind::TaskNotCached { reason, .. } = &event.kind {
            reasons.push(reason.clone());
        }
    });
    assert_eq!(wait(run).unwrap().state().text, "/a 2");
    let [looking, putting] = reasons.as_slice() else { panic!("{reasons:?}") };
    assert!(
        looking.starts_with("the cache could not look for a result: no such table: cache_entry"),
        "{looking}"
    );
    assert!(putting.starts_with("the cache could not put results: no such table: cache_entry"), "{putting}");
}
