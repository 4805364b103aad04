//! A node that waits for its next attempt when its process ends goes on waiting for the rest, in whichever process.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use superstep::policy::{Policy, Retry};
use superstep::thread::Thread;
use superstep::{
    ContextWith, Durability, END, ErrorKind, Graph, GraphState, Result, START, StateGraph, bail,
};
use tokio::time::{Instant, advance, timeout};

use super::stores::Place;

const MINUTE: Duration = Duration::from_secs(60);

#[derive(GraphState, Clone, Debug)]
struct Job {
    #[state(reducer = append)]
    done: Vec<u32>,
}

/// The attempts that were made, and how many of them fail.
#[derive(Default)]
struct World {
    attempts: Mutex<Vec<u32>>,
    fails: u32,
}

impl World {
    fn failing(fails: u32) -> Arc<Self> {
        Arc::new(Self { attempts: Mutex::default(), fails })
    }

    fn attempts(&self) -> Vec<u32> {
        std::mem::take(&mut *self.attempts.lock().unwrap())
    }
}

async fn begin(_: &Job) {}

async fn work(_: &Job, cx: &ContextWith<World>) -> Result<JobUpdate> {
    cx.context().attempts.lock().unwrap().push(cx.attempt());
    if cx.attempt() <= cx.context().fails {
        bail!("not yet");
    }
    Ok(Job::update().done([cx.attempt()]))
}

fn job(attempts: u32, backoff: Duration) -> Graph<Job, World> {
    StateGraph::<Job>::with_context::<World>()
        .edge(START, begin)
        .edge(begin, work)
        .edge(work, END)
        .policy(work, Policy::new().retry(Retry::attempts(attempts).backoff(backoff).factor(1.0)))
        .compile()
        .unwrap()
}

/// Runs a job until its store says that it waits, and drops it there.
async fn cut_off(place: &Place, graph: &Graph<Job, World>, world: &Arc<World>, durability: Durability) {
    let (thread, other) = (place.thread(graph), place.thread(graph));
    let run = thread.run(Job::input()).context(Arc::clone(world)).durability(durability).into_future();
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
async fn a_resumed_run_waits_for_the_rest_and_keeps_the_count() {
    for place in [Place::memory(), Place::encrypted()] {
        for durability in [Durability::Sync, Durability::Async] {
            let (world, graph) = (World::failing(4), job(2, MINUTE));
            cut_off(&place, &graph, &world, durability).await;
            advance(MINUTE / 3).await;
            let resume = || place.thread(&graph).resume(()).context(Arc::clone(&world)).into_future();
            // Cut off once more.
            timeout(MINUTE / 3, resume()).await.unwrap_err();
            let begun = Instant::now();
            let error = resume().await.unwrap_err();
            let rest = begun.elapsed();
            assert!(rest <= MINUTE * 2 / 5 && rest > MINUTE / 4, "{rest:?}");
            let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
            assert_eq!((first.attempt, world.attempts()), (2, vec![1, 2]));
            let snapshot = place.thread(&graph).state().await.unwrap().unwrap();
            assert_eq!(snapshot.tasks[0].error.as_ref().unwrap().retry_at, None, "it has failed for good");
            // Whoever resumes it now begins a new count.
            resume().await.unwrap_err();
            let outcome = resume().await.unwrap();
            assert_eq!((outcome.state().done.as_slice(), world.attempts()), (&[5][..], vec![3, 4, 5]));
            place.thread(&graph).delete().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_wait_outlives_the_process_in_a_file() {
    let place = Place::file();
    let (world, graph) = (World::failing(1), job(2, 60 * MINUTE));
    cut_off(&place, &graph, &world, Durability::Async).await;
    let resume = place.thread(&graph).resume(()).context(Arc::clone(&world)).into_future();
    timeout(Duration::from_millis(50), resume).await.unwrap_err();
    assert_eq!(world.attempts(), [1]);
}

/// Drops a run after so many polls, and resumes the thread; whether it had come to its end.
async fn dropped_after(polls: u32, durability: Durability) -> bool {
    let about = format!("{polls} polls, {durability:?}");
    let (place, world, graph) = (Place::memory(), World::failing(2), job(3, MINUTE));
    let thread: Thread<Job, World> = place.thread(&graph);
    let mut run = thread.run(Job::input()).context(Arc::clone(&world)).durability(durability).into_future();
    let mut polled = 0;
    let ended = poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(false);
        }
        polled += 1;
        run.as_mut().poll(cx).map(|outcome| outcome.map(|_| true).unwrap())
    })
    .await;
    drop(run);
    let known = thread.state().await.unwrap().is_some();
    let outcome = if known {
        place.thread(&graph).resume(()).context(Arc::clone(&world)).await
    } else {
        thread.run(Job::input()).context(Arc::clone(&world)).await
    };
    assert_eq!(outcome.unwrap().state().done, [3], "{about}");
    let attempts = world.attempts();
    assert!(attempts.len() <= 6 && attempts.last() == Some(&3), "{about}: {attempts:?}");
    if durability == Durability::Sync {
        // What has failed is known before anybody waits: no attempt whose failure is stored is made again.
        assert!(attempts.is_sorted(), "{about}: {attempts:?}");
    }
    ended
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_after_any_number_of_polls_is_gone_on_with() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let mut polls = 0;
        while !dropped_after(polls, durability).await {
            polls += 1;
        }
        assert!(polls > 3, "{durability:?}");
    }
}
