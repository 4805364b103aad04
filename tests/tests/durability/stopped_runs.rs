//! A run that is stopped after any number of polls. When it has returned, its state is stored, and another process
//! can continue it to the same end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep::run::Stop;
use superstep::thread::OnConflict;
use superstep::{Durability, ErrorKind, Outcome};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::instrumented_store::InstrumentedStore;
use crate::job::{Job, assert_history_is_complete, final_state, graph};
use crate::journal::{Journal, assert_no_durable_work_repeats};

const ROUNDS: u64 = 2;

#[derive(Clone, Copy, Debug)]
struct Case {
    /// The number of polls before the stop.
    polls: u32,
    /// The delay of the store, in polls.
    slow: u32,
    durability: Durability,
    cancel: bool,
    /// `true` if the run is streamed.
    observed: bool,
}

/// Stops a run after some polls and continues with another. Returns `true` if the first had ended.
async fn stopped_after(inner: impl Checkpointer + Clone, case: Case) -> bool {
    let about = format!("{case:?}");
    let Case { polls, slow, durability, cancel, observed } = case;
    let (journal, lines) = Journal::in_memory();
    let mut store = InstrumentedStore::new(inner.clone(), Arc::clone(&journal));
    store.slow = slow;
    let thread = graph().with_checkpointer(store).thread("job");
    let stop = Stop::new();
    let run = thread
        .run(Job::input(ROUNDS))
        .run_id("once")
        .durability(durability)
        .stop_by(&stop)
        .context(Arc::clone(&journal));
    let mut run: Pin<Box<dyn Future<Output = Result<Outcome<Job>, superstep::Error>> + Send>> =
        if observed { Box::pin(run.stream().for_each(|_| {})) } else { Box::pin(run) };
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
    let was_stopped = stop.is_stopping();
    // Nothing of the run is left.
    drop(run);
    assert_eq!(Arc::strong_count(&journal), 2, "{about}: the test's and the store's");
    let head = match &outcome {
        Ok(Outcome::Done(state)) => {
            assert_eq!(*state, final_state(ROUNDS), "{about}");
            return !was_stopped || polls > 10_000;
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
    // Another process finds this state.
    let second_journal = Arc::clone(&journal);
    let thread = graph().with_checkpointer(InstrumentedStore::new(inner, second_journal)).thread("job");
    let (state, next) = head.unwrap();
    let found = thread.state().await.unwrap().unwrap();
    assert_eq!(found.state, Some(state), "{about}: the thread is at the reported superstep");
    let pending = thread.interrupts().await.unwrap();
    assert!(pending.is_stopped(), "{about}");
    if !cancel {
        assert_eq!(pending.next(), next, "{about}");
        assert!(found.tasks.iter().all(|task| task.result.is_none()), "{about}: nothing is half done");
    }
    let outcome = thread.resume(()).durability(durability).context(Arc::clone(&journal)).await.unwrap();
    assert_eq!(outcome.state(), &final_state(ROUNDS), "{about}");
    assert!(!thread.interrupts().await.unwrap().is_stopped());
    if durability != Durability::Exit {
        assert_history_is_complete(&thread, &about).await;
    }
    assert_no_durable_work_repeats(&lines.all(), &about);
    false
}

async fn check_every_poll(slow: &[u32], store: impl AsyncFn(Case) -> SqliteOrMemory) {
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
async fn run_stopped_after_any_poll_continues() {
    let memory = async |_| SqliteOrMemory::Memory(Arc::default());
    check_every_poll(&[0, 1, 3], memory).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn run_on_several_threads_stopped_after_any_poll_continues() {
    let memory = async |_| SqliteOrMemory::Memory(Arc::default());
    check_every_poll(&[0, 3], memory).await;
}

#[tokio::test]
async fn run_on_sqlite_stopped_after_any_poll_continues() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = async |case: Case| {
        let Case { polls, durability, cancel, observed, .. } = case;
        let path = folder.path().join(format!("{durability:?}-{cancel}-{observed}-{polls}.db"));
        let store = SqliteCheckpointer::options().synchronous(Synchronous::Normal).open(path).unwrap();
        SqliteOrMemory::Sqlite(Arc::new(store))
    };
    check_every_poll(&[0], sqlite).await;
}

/// A run that waits for its thread has not started.
#[tokio::test(start_paused = true)]
async fn stop_ends_the_wait_for_the_thread() {
    for cancel in [false, true] {
        let (journal, _) = Journal::in_memory();
        let graph = graph().with_checkpointer(MemoryCheckpointer::new());
        let thread = graph.thread("job");
        let first = thread.run(Job::input(ROUNDS)).context(Arc::clone(&journal)).start().await.unwrap();
        let stop = Stop::new();
        let wait = OnConflict::Wait(std::time::Duration::MAX);
        let waiting =
            thread.run(Job::input(1)).on_conflict(wait).stop_by(&stop).context(Arc::clone(&journal));
        let before = thread.history().await.unwrap().len();
        let (result, ()) = tokio::join!(waiting, async {
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
            if cancel { stop.cancel() } else { stop.drain() }
        });
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::Cancelled { step: None, .. }));
        assert_eq!(thread.history().await.unwrap().len(), before);
        assert_eq!(first.unwrap().finish().await.unwrap().state(), &final_state(ROUNDS));
    }
}

/// A resume clears the stop, also if the resumed run crashes.
#[tokio::test]
async fn resume_clears_the_stop() {
    let (journal, _) = Journal::in_memory();
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("job");
    let stop = Stop::new();
    stop.drain();
    let run = thread.run(Job::input(ROUNDS)).stop_by(&stop).context(Arc::clone(&journal));
    assert!(run.await.unwrap().pause().unwrap().is_stopped());
    assert!(thread.interrupts().await.unwrap().is_stopped());
    drop(thread.resume(()).context(Arc::clone(&journal)).start().await.unwrap());
    assert!(!thread.interrupts().await.unwrap().is_stopped());
    assert_eq!(thread.interrupts().await.unwrap().next(), ["deal"]);
    // A later resume is not stopped.
    assert_eq!(thread.resume(()).context(journal).await.unwrap().state(), &final_state(ROUNDS));
}

#[derive(superstep::GraphState, Clone, Debug)]
struct Endless {
    #[state(reducer = add)]
    rounds: u32,
}

/// The only node never returns, in a graph or in a subgraph.
#[tokio::test(start_paused = true)]
async fn endless_node_is_cancelled_at_once() {
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
            let run = thread.run(Endless::input()).durability(durability).stop_by(&stop);
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
