//! Cached nodes inside subgraphs.

use std::sync::Arc;

use superstep::cache::MemoryCache;
use superstep::{END, Graph, START, StateGraph};

use super::{Page, RecordingCache, by_url, draft, fetch, run};
use crate::engine::trace::{Journal, block_on};

fn outer(inner: &Graph<Page, Journal>) -> Graph<Page, Journal> {
    let inner = inner.as_node("inner");
    StateGraph::<Page>::with_context::<Journal>()
        .name("outer")
        .edge(START, &inner)
        .edge(&inner, END)
        .compile()
        .unwrap()
}

#[test]
fn subgraph_uses_its_own_or_the_parent_cache() {
    block_on(async {
        let (around, own, journal) =
            (RecordingCache::default(), RecordingCache::default(), Arc::new(Journal::default()));
        let inner = draft().cache(fetch, by_url()).compile().unwrap();
        for _ in 0..2 {
            let page = run(&outer(&inner).with_cache(around.clone()), &journal, "/a").await;
            assert_eq!((page.text.as_str(), page.log.len()), ("text of /a", 1));
        }
        assert_eq!(journal.take(), ["fetch /a"]);
        assert_eq!(around.take().len(), 3);
        let graph = outer(&inner.with_cache(own.clone())).with_cache(around.clone());
        run(&graph, &journal, "/b").await;
        assert_eq!((around.take().len(), own.take().len()), (0, 2));
    });
}

#[test]
fn subgraph_uses_the_parent_cache_on_threads() {
    block_on(async {
        let journal = Arc::new(Journal::default());
        let inner = draft().cache(fetch, by_url()).compile().unwrap();
        let graph = outer(&inner).with_cache(MemoryCache::new());
        let threads = graph.with_checkpointer(superstep::checkpoint::MemoryCheckpointer::new());
        for thread in ["ann", "ben"] {
            let done =
                threads.thread(thread).run(Page::input("/a")).context(Arc::clone(&journal)).await.unwrap();
            assert_eq!(done.state().text, "text of /a");
        }
        assert_eq!(journal.take(), ["fetch /a"]);
    });
}

#[test]
fn subgraph_call_without_a_cache_fails() {
    block_on(async {
        let inner = draft().cache(fetch, by_url()).compile().unwrap();
        let error = outer(&inner).run(Page::input("/a")).context(Journal::default()).await.unwrap_err();
        let mut causes = vec![error.to_string()];
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            causes.push(error.to_string());
            cause = error.source();
        }
        let last = causes.last().unwrap();
        assert!(last.contains("no cache for the results of `fetch`"), "{causes:?}");
    });
}
