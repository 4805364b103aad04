//! A run on a thread whose future is dropped after any number of polls: another one comes to the same end.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use superstep::Durability;
use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::job::{Job, end, graph, is_new, is_whole};
use crate::truth::{Truth, nothing_durable_is_done_again};
use crate::watched::Watched;

const ROUNDS: u64 = 2;

/// Drops a run after so many polls and goes on with another; whether the first was at its end.
async fn dropped_after(inner: impl Checkpointer, polls: u32, slow: u32, durability: Durability) -> bool {
    let about = format!("{polls} polls, a store that takes {slow}, {durability:?}");
    let (truth, lines) = Truth::kept();
    let mut store = Watched::new(inner, Arc::clone(&truth));
    store.slow = slow;
    let thread = graph().with_checkpointer(store).thread("job");
    // What only the run and its tasks hold.
    let (context, told) = (
        Truth::told_to({
            let truth = Arc::clone(&truth);
            move |line| truth.tell(line)
        }),
        Arc::clone(&truth),
    );
    let mut run = thread
        .run(Job::input(ROUNDS))
        .run_id("once")
        .durability(durability)
        .context(Arc::clone(&context))
        .into_future();
    let mut polled = 0;
    let ended = poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        let poll = run.as_mut().poll(cx).map(Some);
        if polled == polls && poll.is_pending() { Poll::Ready(None) } else { poll }
    })
    .await;
    drop(run);
    // A poll of a task that was under way may come to its end on another thread.
    while Arc::strong_count(&context) > 1 {
        tokio::task::yield_now().await;
    }
    if let Some(outcome) = &ended {
        assert_eq!(outcome.as_ref().unwrap().state(), &end(ROUNDS), "{about}");
    }
    let state = match thread.resume(()).durability(durability).context(Arc::clone(&told)).await {
        Ok(outcome) => outcome.into_state(),
        Err(error) if is_new(&error) => {
            let run = thread.run(Job::input(ROUNDS)).run_id("once").durability(durability);
            run.context(told).await.unwrap().into_state()
        }
        Err(error) => panic!("{about}: {error:?}"),
    };
    assert_eq!(state, end(ROUNDS), "{about}");
    if durability != Durability::Exit {
        is_whole(&thread, &about).await;
    }
    nothing_durable_is_done_again(&lines.all(), &about);
    ended.is_some()
}

async fn after_any_number_of_polls() {
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
async fn a_run_that_is_dropped_after_any_number_of_polls_is_gone_on_with() {
    after_any_number_of_polls().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_on_several_threads_that_is_dropped_after_any_number_of_polls_is_gone_on_with() {
    after_any_number_of_polls().await;
}

/// What a dropped run has handed over is written by the store's own thread, perhaps while the next one begins.
#[tokio::test]
async fn a_run_on_sqlite_that_is_dropped_after_any_number_of_polls_is_gone_on_with() {
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
