//! Runs that are dropped during a cache lookup or write.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, SystemTime};

use superstep::cache::{Cache, CacheFuture, Clear, EntryKey, MemoryCache, NewEntry};
use superstep::checkpoint::MemoryCheckpointer;
use superstep::payload::Payload;
use superstep::thread::OnConflict;
use superstep::{Durability, Graph};

use super::{Page, by_url, draft, fetch, run};
use crate::engine::trace::{Journal, block_on};

/// Yields before and after each call.
#[derive(Clone)]
struct Slow(MemoryCache);

async fn pause() {
    for _ in 0..2 {
        let mut polled = false;
        std::future::poll_fn(|cx| {
            if std::mem::replace(&mut polled, true) {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }
}

impl Cache for Slow {
    fn get(&self, at: EntryKey, now: SystemTime) -> CacheFuture<'_, Option<Payload>> {
        Box::pin(async move {
            pause().await;
            let found = self.0.get(at, now).await;
            pause().await;
            found
        })
    }

    fn put(&self, puts: Vec<NewEntry>, now: SystemTime) -> CacheFuture<'_, ()> {
        Box::pin(async move {
            pause().await;
            self.0.put(puts, now).await?;
            pause().await;
            Ok(())
        })
    }

    fn clear(&self, which: Clear) -> CacheFuture<'_, u64> {
        self.0.clear(which)
    }
}

/// Polls a future at most `times` times. Returns `true` if it finished.
fn poll<F: Future>(future: F, times: usize) -> bool {
    let mut future = pin!(future);
    (0..times).any(|_| future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready())
}

fn graph(cache: &Slow) -> Graph<Page, Journal> {
    draft().cache(fetch, by_url()).compile().unwrap().with_cache(cache.clone())
}

#[test]
fn dropped_step_can_be_continued_in_memory() {
    block_on(async {
        for warm in [false, true] {
            for polls in 0.. {
                let (cache, journal) = (Slow(MemoryCache::new()), Arc::new(Journal::default()));
                let graph = graph(&cache);
                if warm {
                    run(&graph, &journal, "/a").await;
                }
                journal.take();
                let mut stepped = graph.run(Page::input("/a")).context(Arc::clone(&journal)).start().unwrap();
                let ended = poll(stepped.step(), polls);
                while stepped.step().await.unwrap() {}
                assert_eq!(stepped.state().log, ["fetched /a"], "once, after {polls} polls");
                assert!(journal.take().len() <= usize::from(!warm));
                // The entry is complete or absent.
                assert_eq!(run(&graph, &journal, "/a").await.text, "text of /a");
                if ended {
                    assert!(polls > 2, "at least one poll was dropped");
                    break;
                }
            }
        }
    });
}

#[test]
fn dropped_run_can_be_resumed_on_a_thread() {
    block_on(async {
        for warm in [false, true] {
            for polls in 0.. {
                let (cache, journal) = (Slow(MemoryCache::new()), Arc::new(Journal::default()));
                let graph = graph(&cache);
                if warm {
                    run(&graph, &journal, "/a").await;
                }
                let threads = graph.with_checkpointer(MemoryCheckpointer::new());
                let thread = threads.thread("ann");
                let begun = thread.run(Page::input("/a")).run_id("one").durability(Durability::Sync);
                let ended = poll(begun.context(Arc::clone(&journal)), polls);
                let again = thread
                    .run(Page::input("/a"))
                    .run_id("one")
                    .on_conflict(OnConflict::Wait(Duration::from_secs(60)));
                let done = again.context(Arc::clone(&journal)).await.unwrap();
                assert_eq!(done.state().log, ["fetched /a"], "once, after {polls} polls");
                assert_eq!(run(threads.graph(), &journal, "/a").await.text, "text of /a");
                if ended {
                    assert!(polls > 2, "at least one poll was dropped");
                    break;
                }
            }
        }
    });
}
