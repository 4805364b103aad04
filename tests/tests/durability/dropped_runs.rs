//! A run on a thread that is dropped after any number of polls: the next run reaches the same end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use superstep::Durability;
use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::instrumented_store::InstrumentedStore;
use crate::job::{Job, assert_history_is_complete, final_state, graph, has_no_thread};
use crate::journal::{Journal, assert_no_durable_work_repeats};

const ROUNDS: u64 = 2;

/// Drops a run after `polls` polls and continues with another. Returns `true` if the first had ended.
async fn dropped_after(inner: impl Checkpointer, polls: u32, slow: u32, durability: Durability) -> bool {
    let about = format!("{polls} polls, a store that takes {slow}, {durability:?}");
    let (journal, lines) = Journal::in_memory();
    let mut store = InstrumentedStore::new(inner, Arc::clone(&journal));
    store.slow = slow;
    let thread = graph().with_checkpointer(store).thread("job");
    // A context that only the run and its tasks hold.
    let (context, second_context) = (
        Journal::with_listener({
            let journal = Arc::clone(&journal);
            move |line| journal.record(line)
        }),
        Arc::clone(&journal),
    );
    let mut run =
        thread.run(Job::input(ROUNDS)).run_id("once").durability(durability).context(Arc::clone(&context));
    let mut polled = 0;
    let ended = poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        let poll = Pin::new(&mut run).poll(cx).map(Some);
        if polled == polls && poll.is_pending() { Poll::Ready(None) } else { poll }
    })
    .await;
    drop(run);
    // A poll in progress may still finish on another thread.
    while Arc::strong_count(&context) > 1 {
        tokio::task::yield_now().await;
    }
    if let Some(outcome) = &ended {
        assert_eq!(outcome.as_ref().unwrap().state(), &final_state(ROUNDS), "{about}");
    }
    let state = match thread.resume(()).durability(durability).context(Arc::clone(&second_context)).await {
        Ok(outcome) => outcome.into_state(),
        Err(error) if has_no_thread(&error) => {
            let run = thread.run(Job::input(ROUNDS)).run_id("once").durability(durability);
            run.context(second_context).await.unwrap().into_state()
        }
        Err(error) => panic!("{about}: {error:?}"),
    };
    assert_eq!(state, final_state(ROUNDS), "{about}");
    if durability != Durability::Exit {
        assert_history_is_complete(&thread, &about).await;
    }
    assert_no_durable_work_repeats(&lines.all(), &about);
    ended.is_some()
}

async fn check_every_poll() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [0, 1, 3] {
            let mut polls = 0;
            while !dropped_after(MemoryCheckpointer::new(), polls, slow, durability).await {
                polls += 1;
                assert!(polls < 10_000, "the run has no end");
            }
            assert!(polls > 0);
        }
    }
}

#[tokio::test]
async fn run_dropped_after_any_poll_continues() {
    check_every_poll().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_on_several_threads_dropped_after_any_poll_continues() {
    check_every_poll().await;
}

/// The store's own thread writes the batches of a dropped run, possibly while the next run begins.
#[tokio::test]
async fn run_on_sqlite_dropped_after_any_poll_continues() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let mut polls = 0;
        loop {
            let path = folder.path().join(format!("{durability:?}-{polls}.db"));
            let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(path).unwrap();
            if dropped_after(store, polls, 0, durability).await {
                break;
            }
            polls += 1;
            assert!(polls < 10_000, "the run has no end");
        }
        assert!(polls > 0);
    }
}
