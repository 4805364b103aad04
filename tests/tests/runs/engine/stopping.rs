//! Runs that are stopped from outside: cancelled at once, or drained after the current superstep.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use superstep::run::Stop;
use superstep::{ContextWith, END, ErrorKind, EventKind, Graph, Outcome, START, StateGraph};

use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, say, workers};

/// The gate of the slow node, and a record of the nodes that started.
#[derive(Default)]
struct Watch {
    journal: Journal,
    gate: tokio::sync::Notify,
    alive: AtomicUsize,
}

struct Alive<'a>(&'a Watch);

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

fn began<'a>(cx: &'a ContextWith<Watch>) -> Alive<'a> {
    cx.context().journal.note(cx.node());
    cx.context().alive.fetch_add(1, Ordering::SeqCst);
    Alive(cx.context())
}

async fn first(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
    let _alive = began(cx);
    say("first")
}

async fn quick(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
    let _alive = began(cx);
    say("quick")
}

/// Waits for the gate.
async fn slow(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
    let _alive = began(cx);
    cx.context().gate.notified().await;
    say("slow")
}

async fn last(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
    let _alive = began(cx);
    say("last")
}

fn graph() -> Graph<Trace, Watch> {
    StateGraph::<Trace>::with_context::<Watch>()
        .edge(START, first)
        .edge(first, (quick, slow))
        .join((quick, slow), last)
        .edge(last, END)
        .compile()
        .unwrap()
}

const LOG: [&str; 4] = ["first", "quick", "slow", "last"];

/// Waits until the slow node has started.
async fn slow_has_begun(watch: &Watch, notes: &mut Vec<String>) {
    while !notes.iter().any(|note| note == "slow") {
        notes.extend(watch.journal.take());
        tokio::task::yield_now().await;
    }
}

#[track_caller]
fn is_drained(outcome: &Outcome<Trace>, next: &[&str]) {
    let pause = outcome.pause().unwrap();
    assert!(pause.is_stopped() && pause.interrupts().is_empty());
    assert_eq!(pause.next(), next);
}

/// A drained run finishes the current superstep and starts no other.
async fn drained(watch: Arc<Watch>, one_at_a_time: bool) {
    let stop = Stop::new();
    let mut run = graph().run(Trace::input()).stop_by(&stop);
    if one_at_a_time {
        run = run.max_concurrency(1);
    }
    let run = run.context(Arc::clone(&watch));
    let mut notes = Vec::new();
    let (outcome, ()) = tokio::join!(run, async {
        slow_has_begun(&watch, &mut notes).await;
        stop.drain();
        watch.gate.notify_one();
    });
    let outcome = outcome.unwrap();
    is_drained(&outcome, &["last"]);
    assert_eq!(outcome.state().log, LOG[..3]);
    assert_eq!(watch.alive.load(Ordering::SeqCst), 0);
}

#[test]
fn drained_run_ends_after_the_current_superstep() {
    for one_at_a_time in [false, true] {
        block_on(drained(Arc::default(), one_at_a_time));
        workers(2).block_on(drained(Arc::default(), one_at_a_time));
    }
}

/// A cancelled run wakes, drops its tasks, and keeps the results of finished ones.
async fn cancelled(watch: Arc<Watch>) {
    let stop = Stop::new();
    let mut run = graph().run(Trace::input()).stop_by(&stop).context(Arc::clone(&watch)).start().unwrap();
    assert!(run.step().await.unwrap());
    let mut notes = Vec::new();
    let (result, ()) = tokio::join!(run.step(), async {
        slow_has_begun(&watch, &mut notes).await;
        while watch.alive.load(Ordering::SeqCst) > 1 || !notes.iter().any(|note| note == "quick") {
            notes.extend(watch.journal.take());
            tokio::task::yield_now().await;
        }
        // From a thread without a runtime, like a signal handler.
        let stop = stop.clone();
        std::thread::spawn(move || stop.cancel()).join().unwrap();
    });
    let error = result.unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Trace`: the run was cancelled in superstep 2 before `slow` finished"
    );
    let ErrorKind::Cancelled { step: Some(2), unfinished, .. } = error.kind() else { panic!("{error}") };
    assert_eq!(unfinished, &["slow"]);
    assert_eq!(error.state::<Trace>().unwrap().log, ["first"]);
    assert_eq!(watch.alive.load(Ordering::SeqCst), 0, "no future of a cancelled run is alive");
    // The run stays cancelled until it gets another `Stop`. Then it continues with the unfinished tasks.
    assert!(run.step().await.is_err());
    assert_eq!(run.unfinished(), ["slow"]);
    run.stop_by(&Stop::new());
    watch.gate.notify_one();
    assert_eq!(run.finish().await.unwrap().state().log, LOG);
    assert_eq!(watch.journal.take(), ["slow", "last"]);
}

#[test]
fn cancelled_run_ends_at_once_and_keeps_finished_tasks() {
    block_on(cancelled(Arc::default()));
    workers(2).block_on(cancelled(Arc::default()));
}

fn poll_times<F: Future>(future: F, polls: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut cx = std::task::Context::from_waker(Waker::noop());
    (0..polls).find_map(|_| match future.as_mut().poll(&mut cx) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    })
}

/// Stops a stepped run after any number of polls. The continued run repeats no finished task.
#[test]
fn stopped_step_continues_with_unfinished_tasks() {
    async fn two(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
        let _alive = began(cx);
        for _ in 0..2 {
            tokio::task::yield_now().await;
        }
        say("two")
    }
    let graph = StateGraph::<Trace>::with_context::<Watch>()
        .edge(START, first)
        .edge(first, (quick, two))
        .join((quick, two), last)
        .edge(last, END)
        .compile()
        .unwrap();
    for cancel in [false, true] {
        let mut complete = 0;
        for polls in 0..12 {
            let (watch, stop) = (Arc::new(Watch::default()), Stop::new());
            let mut run =
                graph.run(Trace::input()).stop_by(&stop).context(Arc::clone(&watch)).start().unwrap();
            let outcome = {
                let mut all = pin!(async {
                    while run.step().await? {}
                    Ok::<_, superstep::Error>(())
                });
                match poll_times(all.as_mut(), polls) {
                    Some(outcome) => {
                        complete += 1;
                        outcome
                    }
                    None => {
                        if cancel {
                            stop.cancel()
                        } else {
                            stop.drain()
                        }
                        block_on(all)
                    }
                }
            };
            let at_the_end = run.next().is_empty();
            assert_eq!(outcome.is_err(), cancel && !at_the_end, "after {polls} polls");
            assert_eq!(run.pause().is_some_and(|pause| pause.is_stopped()), !cancel && !at_the_end);
            assert_eq!(watch.alive.load(Ordering::SeqCst), 0);
            run.stop_by(&Stop::new());
            block_on(async { while run.step().await.unwrap() {} });
            assert_eq!(run.state().log, ["first", "quick", "two", "last"], "after {polls} polls");
            let notes = watch.journal.take();
            let begun = |node: &str| notes.iter().filter(|note| *note == node).count();
            assert_eq!((begun("first"), begun("quick"), begun("last")), (1, 1, 1), "after {polls} polls");
            assert!(begun("two") <= 1 + usize::from(cancel), "after {polls} polls");
        }
        assert!(complete > 0);
    }
}

#[test]
fn run_with_a_triggered_stop_starts_nothing() {
    block_on(async {
        let stop = Stop::new();
        stop.drain();
        let watch = Arc::new(Watch::default());
        let run = || graph().run(Trace::input()).stop_by(&stop).context(Arc::clone(&watch));
        is_drained(&run().await.unwrap(), &["first"]);
        stop.cancel();
        let error = run().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Cancelled { step: None, .. }));
        assert_eq!(
            error.to_string(),
            "graph `Trace`: the run was stopped before it began, so nothing of it is stored"
        );
        assert!(run().start().is_err());
        // A drain after a cancel changes nothing.
        stop.drain();
        assert!(run().await.is_err());
        assert!(watch.journal.take().is_empty());
    });
}

#[test]
fn finished_run_ignores_a_stop() {
    block_on(async {
        for cancel in [false, true] {
            let (watch, stop) = (Arc::new(Watch::default()), Stop::new());
            watch.gate.notify_one();
            let mut run =
                graph().run(Trace::input()).stop_by(&stop).context(Arc::clone(&watch)).start().unwrap();
            for _ in 0..3 {
                assert!(run.step().await.unwrap());
            }
            if cancel {
                stop.cancel()
            } else {
                stop.drain()
            }
            assert!(!run.step().await.unwrap());
            assert!(run.pause().is_none());
            assert_eq!(run.finish().await.unwrap().state().log, LOG);
        }
        // A drained run at its recursion limit is stopped, not failed.
        let (watch, stop) = (Arc::new(Watch::default()), Stop::new());
        let run = graph().run(Trace::input()).recursion_limit(1).stop_by(&stop).context(watch);
        let mut run = run.start().unwrap();
        assert!(run.step().await.unwrap());
        stop.drain();
        is_drained(&run.finish().await.unwrap(), &["quick", "slow"]);
    });
}

#[test]
fn child_stop_stops_only_its_own_runs() {
    block_on(async {
        let all = Stop::new();
        let (one, other) = (all.child(), all.child().child());
        let wait = |stop: &Stop| {
            let run = graph().run(Trace::input()).stop_by(stop).context(Watch::default());
            tokio::spawn(run)
        };
        let (first, second, third) = (wait(&one), wait(&other), wait(&all));
        tokio::task::yield_now().await;
        one.cancel();
        assert!(matches!(first.await.unwrap().unwrap_err().kind(), ErrorKind::Cancelled { .. }));
        assert!(!all.is_stopping() && !other.is_stopping() && !second.is_finished() && !third.is_finished());
        all.cancel();
        assert!(other.is_cancelled() && one.is_cancelled());
        assert!(second.await.unwrap().is_err() && third.await.unwrap().is_err());
    });
}

#[test]
fn stopped_stream_ends_like_the_run() {
    for cancel in [false, true] {
        block_on(async {
            let (watch, stop) = (Arc::new(Watch::default()), Stop::new());
            let mut events = graph().run(Trace::input()).stop_by(&stop).context(Arc::clone(&watch)).stream();
            let mut end = None;
            while let Some(event) = events.next().await {
                if let Ok(EventKind::TaskStarted { node, .. }) = event.as_ref().map(|event| &event.kind)
                    && **node == *"slow"
                {
                    if cancel {
                        stop.cancel()
                    } else {
                        stop.drain()
                    }
                    watch.gate.notify_one();
                }
                end = Some(event);
            }
            match end.unwrap() {
                Ok(event) if !cancel => {
                    let json = serde_json::to_value(&event).unwrap();
                    assert_eq!(json["type"], "interrupted");
                    assert_eq!(json["stopped"], true);
                    assert!(!json["next"].as_array().unwrap().is_empty());
                    let EventKind::Done(outcome) = event.kind else { panic!("{event:?}") };
                    assert!(outcome.pause().unwrap().is_stopped());
                }
                Err(error) if cancel => assert!(matches!(error.kind(), ErrorKind::Cancelled { .. })),
                other => panic!("{other:?}"),
            }
            assert_eq!(watch.alive.load(Ordering::SeqCst), 0);
        });
    }
}

#[test]
fn node_that_checks_for_a_stop_finishes_early() {
    async fn patient(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
        assert!(!cx.is_stopping());
        tokio::select! {
            () = cx.context().gate.notified() => say("all"),
            () = cx.stopping() => say(format!("a part, {}", cx.is_stopping())),
        }
    }
    let graph = StateGraph::<Trace>::with_context::<Watch>()
        .edge(START, patient)
        .edge(patient, patient)
        .compile()
        .unwrap();
    let test = async {
        let stop = Stop::new();
        let run = graph.run(Trace::input()).stop_by(&stop).context(Watch::default());
        let (outcome, ()) = tokio::join!(run, async {
            tokio::task::yield_now().await;
            stop.drain();
        });
        let outcome = outcome.unwrap();
        is_drained(&outcome, &["patient"]);
        assert_eq!(outcome.state().log, ["a part, true"]);
    };
    block_on(test);
}

#[test]
fn context_without_a_stop_is_never_stopping() {
    let cx = superstep::Context::detached("node");
    assert!(!cx.is_stopping());
    assert!(poll_times(cx.stopping(), 3).is_none());
}

#[test]
fn always_ready_loop_can_be_stopped() {
    async fn ready() {}
    let graph = StateGraph::<Trace>::new().edge(START, ready).edge(ready, ready).compile().unwrap();
    for cancel in [false, true] {
        let stop = Stop::new();
        let run = graph.run(Trace::input()).recursion_limit(u64::MAX).stop_by(&stop);
        let result = std::thread::scope(|scope| {
            let run = scope.spawn(|| block_on(run));
            if cancel {
                stop.cancel()
            } else {
                stop.drain()
            }
            run.join().unwrap()
        });
        assert_eq!(result.is_err(), cancel);
    }
}
