//! A backoff that outlives its process: the next process waits only for the rest.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use superstep::policy::{Policy, Retry};
use superstep::thread::Thread;
use superstep::{
    ContextWith, Durability, END, ErrorKind, Graph, GraphState, Result, START, StateGraph, bail,
};
use tokio::time::{Instant, advance, timeout};

use super::stores::TestStore;

const MINUTE: Duration = Duration::from_secs(60);

#[derive(GraphState, Clone, Debug)]
struct Job {
    #[state(reducer = append)]
    done: Vec<u32>,
}

/// Records the attempts, and lets the first ones fail.
#[derive(Default)]
struct Probe {
    attempts: Mutex<Vec<u32>>,
    fails: u32,
}

impl Probe {
    fn failing(fails: u32) -> Arc<Self> {
        Arc::new(Self { attempts: Mutex::default(), fails })
    }

    fn attempts(&self) -> Vec<u32> {
        std::mem::take(&mut *self.attempts.lock().unwrap())
    }
}

async fn begin(_: &Job) {}

async fn work(_: &Job, cx: &ContextWith<Probe>) -> Result<JobUpdate> {
    cx.context().attempts.lock().unwrap().push(cx.attempt());
    if cx.attempt() <= cx.context().fails {
        bail!("not yet");
    }
    Ok(Job::update().done([cx.attempt()]))
}

fn job(attempts: u32, backoff: Duration) -> Graph<Job, Probe> {
    StateGraph::<Job>::with_context::<Probe>()
        .edge(START, begin)
        .edge(begin, work)
        .edge(work, END)
        .policy(work, Policy::new().retry(Retry::attempts(attempts).backoff(backoff).factor(1.0)))
        .compile()
        .unwrap()
}

/// Runs a job until the store shows its backoff, and drops the run.
async fn cut_off(store: &TestStore, graph: &Graph<Job, Probe>, probe: &Arc<Probe>, durability: Durability) {
    let (thread, other) = (store.thread(graph), store.thread(graph));
    let run = thread.run(Job::input()).context(Arc::clone(probe)).durability(durability);
    let waits = async {
        loop {
            let tasks = other.state().await.unwrap().map(|snapshot| snapshot.tasks).unwrap_or_default();
            if let Some(error) = tasks.first().and_then(|task| task.error.as_ref()) {
                assert_eq!((error.attempt, error.text.as_str()), (1, "not yet"));
                assert!(error.retry_at.is_some());
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        ended = run => panic!("{ended:?}"),
        () = waits => {}
    }
}

#[tokio::test(start_paused = true)]
async fn resumed_run_waits_for_the_rest_of_the_backoff() {
    for store in [TestStore::memory(), TestStore::encrypted()] {
        for durability in [Durability::Sync, Durability::Async] {
            let (probe, graph) = (Probe::failing(4), job(2, MINUTE));
            cut_off(&store, &graph, &probe, durability).await;
            advance(MINUTE / 3).await;
            let resume = || store.thread(&graph).resume(()).context(Arc::clone(&probe));
            // The second run is dropped as well.
            timeout(MINUTE / 3, resume()).await.unwrap_err();
            let begun = Instant::now();
            let error = resume().await.unwrap_err();
            let rest = begun.elapsed();
            assert!(rest <= MINUTE * 2 / 5 && rest > MINUTE / 4, "{rest:?}");
            let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((first.attempt, probe.attempts()), (2, vec![1, 2]));
            let snapshot = store.thread(&graph).state().await.unwrap().unwrap();
            assert_eq!(snapshot.tasks[0].error.as_ref().unwrap().retry_at, None, "it has failed for good");
            // The next resume starts a new retry count.
            resume().await.unwrap_err();
            let outcome = resume().await.unwrap();
            assert_eq!((outcome.state().done.as_slice(), probe.attempts()), (&[5][..], vec![3, 4, 5]));
            store.thread(&graph).delete().await.unwrap();
        }
    }
}

#[tokio::test]
async fn backoff_in_a_file_survives_the_process() {
    let store = TestStore::file();
    let (probe, graph) = (Probe::failing(1), job(2, 60 * MINUTE));
    cut_off(&store, &graph, &probe, Durability::Async).await;
    let resume = store.thread(&graph).resume(()).context(Arc::clone(&probe));
    timeout(Duration::from_millis(50), resume).await.unwrap_err();
    assert_eq!(probe.attempts(), [1]);
}

/// Drops a run after `polls` polls and resumes the thread. Returns `true` if the run had ended before.
async fn dropped_after(polls: u32, durability: Durability) -> bool {
    let about = format!("{polls} polls, {durability:?}");
    let (store, probe, graph) = (TestStore::memory(), Probe::failing(2), job(3, MINUTE));
    let thread: Thread<Job, Probe> = store.thread(&graph);
    let mut run = thread.run(Job::input()).context(Arc::clone(&probe)).durability(durability);
    let mut polled = 0;
    let ended = poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(false);
        }
        polled += 1;
        Pin::new(&mut run).poll(cx).map(|outcome| outcome.map(|_| true).unwrap())
    })
    .await;
    drop(run);
    let known = thread.state().await.unwrap().is_some();
    let outcome = if known {
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await
    } else {
        thread.run(Job::input()).context(Arc::clone(&probe)).await
    };
    assert_eq!(outcome.unwrap().state().done, [3], "{about}");
    let attempts = probe.attempts();
    assert!(attempts.len() <= 6 && attempts.last() == Some(&3), "{about}: {attempts:?}");
    if durability == Durability::Sync {
        // A failure is stored before the backoff starts: a failed attempt is not repeated.
        assert!(attempts.is_sorted(), "{about}: {attempts:?}");
    }
    ended
}

#[tokio::test(start_paused = true)]
async fn run_dropped_after_any_poll_continues() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let mut polls = 0;
        while !dropped_after(polls, durability).await {
            polls += 1;
        }
        assert!(polls > 3, "{durability:?}");
    }
}
