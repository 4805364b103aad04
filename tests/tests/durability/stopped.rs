//! A run on a thread that is told to stop after any number of polls: when it has returned, what it leaves behind is there for
//! whoever goes on, in another process if need be, and comes to the same end.

use std::future::poll_fn;
use std::sync::Arc;

use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep::run::Stop;
use superstep::thread::OnConflict;
use superstep::{Durability, ErrorKind, Outcome};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::job::{Job, end, graph, is_whole};
use crate::truth::{Truth, nothing_durable_is_done_again};
use crate::watched::Watched;

const ROUNDS: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct Case {
    /// After so many polls.
    polls: u32,
    /// A store that takes so long.
    slow: u32,
    durability: Durability,
    cancel: bool,
    /// The events are listened to as well.
    observed: bool,
}

/// Stops a run after so many polls and goes on with another; whether the first was at its end.
async fn stopped_after(inner: impl Checkpointer + Clone, case: Case) -> bool {
    let about = format!("{case:?}");
    let Case { polls, slow, durability, cancel, observed } = case;
    let (truth, lines) = Truth::kept();
    let mut store = Watched::new(inner.clone(), Arc::clone(&truth));
    store.slow = slow;
    let thread = graph().with_checkpointer(store).thread("job");
    let stop = Stop::new();
    let run = thread
        .run(Job::input(ROUNDS))
        .run_id("once")
        .durability(durability)
        .stop_by(&stop)
        .context(Arc::clone(&truth));
    let mut run = if observed { Box::pin(run.stream().for_each(|_| {})) } else { run.into_future() };
    let mut polled = 0;
    let outcome = poll_fn(|cx| {
        if polled == polls {
            if cancel {
                stop.cancel();
            } else {
                stop.drain();
            }
        }
        polled += 1;
        run.as_mut().poll(cx)
    })
    .await;
    let told = stop.is_stopping();
    // Nobody is at it, and nothing of it is left.
    drop(run);
    assert_eq!(Arc::strong_count(&truth), 2, "{about}: the test's and the store's");
    let head = match &outcome {
        Ok(Outcome::Done(state)) => {
            assert_eq!(*state, end(ROUNDS), "{about}");
            return !told || polls > 10_000;
        }
        Ok(Outcome::Interrupted(pause)) => {
            assert!(!cancel && pause.is_stopped(), "{about}");
            Some((pause.state().clone(), pause.next().to_vec()))
        }
        Err(error) => {
            let ErrorKind::Cancelled { step, .. } = error.kind() else { panic!("{about}: {error:?}") };
            assert!(cancel, "{about}");
            if step.is_none() {
                assert!(thread.state().await.unwrap().is_none(), "{about}");
                return false;
            }
            error.state::<Job>().cloned().map(|state| (state, Vec::new()))
        }
    };
    // As another process finds it.
    let truth_of_another = Arc::clone(&truth);
    let thread = graph().with_checkpointer(Watched::new(inner, truth_of_another)).thread("job");
    let (state, next) = head.unwrap();
    let found = thread.state().await.unwrap().unwrap();
    assert_eq!(found.state, Some(state), "{about}: it is at the boundary that it has told of");
    let pending = thread.interrupts().await.unwrap();
    assert!(pending.is_stopped(), "{about}");
    if !cancel {
        assert_eq!(pending.next(), next, "{about}");
        assert!(found.tasks.iter().all(|task| task.result.is_none()), "{about}: nothing is half done");
    }
    let outcome = thread.resume(()).durability(durability).context(Arc::clone(&truth)).await.unwrap();
    assert_eq!(outcome.state(), &end(ROUNDS), "{about}");
    assert!(!thread.interrupts().await.unwrap().is_stopped());
    if durability != Durability::Exit {
        is_whole(&thread, &about).await;
    }
    nothing_durable_is_done_again(&lines.all(), &about);
    false
}

async fn after_any_number_of_polls(slow: &[u32], store: impl AsyncFn(Case) -> SqliteOrMemory) {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for &slow in slow {
            for (cancel, observed) in [(false, false), (true, false), (false, true), (true, true)] {
                let mut case = Case { polls: 0, slow, durability, cancel, observed };
                loop {
                    let ended = match store(case).await {
                        SqliteOrMemory::Sqlite(store) => stopped_after(store, case).await,
                        SqliteOrMemory::Memory(store) => stopped_after(store, case).await,
                    };
                    if ended {
                        break;
                    }
                    case.polls += 1;
                    assert!(case.polls < 10_000, "the run has no end");
                }
                assert!(case.polls > 0);
            }
        }
    }
}

enum SqliteOrMemory {
    Sqlite(Arc<SqliteCheckpointer>),
    Memory(Arc<MemoryCheckpointer>),
}

#[tokio::test]
async fn a_run_that_is_stopped_after_any_number_of_polls_is_gone_on_with() {
    let memory = async |_| SqliteOrMemory::Memory(Arc::default());
    after_any_number_of_polls(&[0, 1, 3], memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_on_several_threads_that_is_stopped_after_any_number_of_polls_is_gone_on_with() {
    let memory = async |_| SqliteOrMemory::Memory(Arc::default());
    after_any_number_of_polls(&[0, 3], memory).await;
}

#[tokio::test]
async fn a_run_on_sqlite_that_is_stopped_after_any_number_of_polls_is_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = async |case: Case| {
        let Case { polls, durability, cancel, observed, .. } = case;
        let path = folder.path().join(format!("{durability:?}-{cancel}-{observed}-{polls}.db"));
        let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(path).unwrap();
        SqliteOrMemory::Sqlite(Arc::new(store))
    };
    after_any_number_of_polls(&[0], sqlite).await;
}

/// A run that waits for its thread has not begun.
#[tokio::test(start_paused = true)]
async fn a_run_that_waits_for_others_stops_waiting() {
    for cancel in [false, true] {
        let (truth, _) = Truth::kept();
        let graph = graph().with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("job");
        let first = thread.run(Job::input(ROUNDS)).context(Arc::clone(&truth)).start().await.unwrap();
        let stop = Stop::new();
        let wait = OnConflict::Wait(std::time::Duration::MAX);
        let waiting = thread.run(Job::input(1)).on_conflict(wait).stop_by(&stop).context(Arc::clone(&truth));
        let before = thread.history().await.unwrap().len();
        let (result, ()) = tokio::join!(waiting.into_future(), async {
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
            if cancel { stop.cancel() } else { stop.drain() }
        });
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::Cancelled { step: None, .. }));
        assert_eq!(thread.history().await.unwrap().len(), before);
        assert_eq!(first.unwrap().finish().await.unwrap().state(), &end(ROUNDS));
    }
}

/// What was told to stop, and crashes once it is gone on with, was not told to stop.
#[tokio::test]
async fn going_on_takes_the_stop_back() {
    let (truth, _) = Truth::kept();
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("job");
    let stop = Stop::new();
    stop.drain();
    let run = thread.run(Job::input(ROUNDS)).stop_by(&stop).context(Arc::clone(&truth));
    assert!(run.await.unwrap().pause().unwrap().is_stopped());
    assert!(thread.interrupts().await.unwrap().is_stopped());
    drop(thread.resume(()).context(Arc::clone(&truth)).start().await.unwrap());
    assert!(!thread.interrupts().await.unwrap().is_stopped());
    assert_eq!(thread.interrupts().await.unwrap().next(), ["deal"]);
    // The same run, started again by a client that knows of nothing, is stopped no more.
    assert_eq!(thread.resume(()).context(truth).await.unwrap().state(), &end(ROUNDS));
}

#[derive(superstep::GraphState, Clone, Debug)]
struct Endless {
    #[state(reducer = add)]
    rounds: u32,
}

/// Its only node would never come back, in a graph or in a call.
#[tokio::test(start_paused = true)]
async fn a_lone_node_that_never_ends_is_cancelled_at_once() {
    use superstep::{END, Graph, START, StateGraph};

    async fn stuck(_: &Endless) {
        std::future::pending().await
    }
    let alone = || -> Graph<Endless> {
        StateGraph::<Endless>::new().edge(START, stuck).edge(stuck, END).compile().unwrap()
    };
    let inner = alone().as_node("inner");
    let called = StateGraph::<Endless>::new().edge(START, &inner).edge(&inner, END).compile().unwrap();
    for (graph, node) in [(alone(), "stuck"), (called, "inner")] {
        for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
            let thread = graph.with_checkpointer(MemoryCheckpointer::new()).thread("t");
            let stop = Stop::new();
            let run = thread.run(Endless::input()).durability(durability).stop_by(&stop).into_future();
            let (result, ()) =
                tokio::join!(tokio::time::timeout(std::time::Duration::from_secs(60), run), async {
                    stop.cancel()
                });
            let error = result.expect("it is not waited for").unwrap_err();
            let ErrorKind::Cancelled { unfinished, .. } = error.kind() else { panic!("{error:?}") };
            assert_eq!(unfinished, &[node]);
            assert!(thread.interrupts().await.unwrap().is_stopped());
        }
    }
}
