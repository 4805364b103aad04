//! Cached results on threads.

use std::sync::Arc;

use superstep::cache::{CachePolicy, MemoryCache};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::as_node;
use superstep::{ContextWith, Durability, END, Result, START, StateGraph, bail};

use super::{Page, PageUpdate, RecordingCache, by_url, draft, fetch};
use crate::engine::trace::{Journal, block_on};

#[test]
fn cache_hit_writes_the_same_checkpoints() {
    block_on(async {
        let journal = Arc::new(Journal::default());
        let graph = super::graph(MemoryCache::new()).with_checkpointer(MemoryCheckpointer::new());
        let mut histories = Vec::new();
        for name in ["ann", "ben"] {
            let thread = graph.thread(name);
            thread.run(Page::input("/a")).context(Arc::clone(&journal)).await.unwrap();
            let history = thread.history().await.unwrap();
            let seen = history.iter().map(|snapshot| {
                (snapshot.step, snapshot.next.clone(), snapshot.state.as_ref().map(|page| page.log.clone()))
            });
            histories.push(seen.collect::<Vec<_>>());
        }
        assert_eq!(histories[0], histories[1]);
        assert_eq!(journal.take(), ["fetch /a"]);
    });
}

async fn beside(_: &Page, cx: &ContextWith<Journal>) -> Result<PageUpdate> {
    if !cx.context().has("go on") {
        bail!("not yet");
    }
    Ok(Page::update().log(["beside".to_owned()]))
}

#[test]
fn resumed_run_keeps_its_cache_hits() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = draft().edge(START, beside).edge(beside, END).cache(fetch, by_url()).compile().unwrap();
        let graph = graph.with_cache(cache.clone()).with_checkpointer(MemoryCheckpointer::new());
        super::run(&super::graph(cache.clone()), &journal, "/a").await;
        journal.take();
        cache.take();
        let thread = graph.thread("ann");
        let run = || thread.run(Page::input("/a")).context(Arc::clone(&journal));
        run().durability(Durability::Sync).await.unwrap_err();
        assert_eq!(cache.take(), [r#"get "/a""#]);
        // The resumed run must not need the cached result again.
        graph.graph().clear_cache().await.unwrap();
        journal.note("go on");
        let done = thread.resume(()).context(Arc::clone(&journal)).await.unwrap();
        assert_eq!(done.state().log, ["fetched /a", "beside"]);
        assert!(cache.take().is_empty(), "neither read nor written");
        assert_eq!(journal.take(), ["go on"]);
    });
}

#[test]
fn replay_uses_the_cache() {
    block_on(async {
        let journal = Arc::new(Journal::default());
        let graph = super::graph(MemoryCache::new()).with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("ann");
        thread.run(Page::input("/a")).context(Arc::clone(&journal)).await.unwrap();
        let history = thread.history().await.unwrap();
        let before = history.iter().find(|snapshot| *snapshot.next == [Arc::from("fetch")]).unwrap();
        let again = || thread.at(before.id).run_again().context(Arc::clone(&journal));
        assert_eq!(again().await.unwrap().state().text, "text of /a");
        assert_eq!(journal.take(), ["fetch /a"]);
        graph.graph().clear_cache().await.unwrap();
        again().await.unwrap();
        assert_eq!(journal.take(), ["fetch /a"]);
    });
}

#[test]
fn update_as_a_node_is_not_cached() {
    block_on(async {
        let (cache, journal) = (RecordingCache::default(), Arc::new(Journal::default()));
        let graph = super::graph(cache.clone()).with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("ann");
        thread.run(Page::input("/a")).context(Arc::clone(&journal)).await.unwrap();
        cache.take();
        thread
            .update(Page::update().text("by hand"), as_node(fetch))
            .context(Journal::default())
            .await
            .unwrap();
        assert!(cache.take().is_empty());
    });
}

#[test]
fn every_durability_uses_the_cache() {
    block_on(async {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let journal = Arc::new(Journal::default());
            let graph = StateGraph::<Page>::with_context::<Journal>()
                .edge(START, fetch)
                .edge(fetch, END)
                .cache(fetch, CachePolicy::by(|_: &Page| ()))
                .compile()
                .unwrap()
                .with_cache(MemoryCache::new())
                .with_checkpointer(MemoryCheckpointer::new());
            for name in ["ann", "ben"] {
                let run = graph.thread(name).run(Page::input("/a")).context(Arc::clone(&journal));
                assert_eq!(run.durability(durability).await.unwrap().state().text, "text of /a");
            }
            assert_eq!(journal.take(), ["fetch /a"], "{durability:?}");
        }
    });
}
