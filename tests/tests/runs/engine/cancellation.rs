//! Dropped runs: their tasks are not polled again, and finished tasks keep their results.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use serde::{Deserialize, Serialize};
use superstep::{ContextWith, END, Graph, Route, START, StateGraph};

use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, say, workers};

/// Records the actions, live futures and polls of a run's tasks.
#[derive(Default)]
struct Watch {
    journal: Journal,
    alive: AtomicUsize,
    polls: AtomicUsize,
}

/// Counts a live future.
struct Alive<'a>(&'a Watch);

impl<'a> Alive<'a> {
    fn new(watch: &'a Watch) -> Self {
        watch.alive.fetch_add(1, Ordering::SeqCst);
        Self(watch)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Yields `times` times.
async fn pause(watch: &Watch, times: u32) {
    for _ in 0..times {
        watch.polls.fetch_add(1, Ordering::SeqCst);
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
    watch.polls.fetch_add(1, Ordering::SeqCst);
}

#[derive(Serialize, Deserialize)]
struct Job(u32);

#[derive(Route)]
enum Deal {
    #[to(work)]
    Work(Job),
}

async fn deal(_: &Trace, cx: &ContextWith<Watch>) -> (TraceUpdate, Vec<Deal>) {
    let _alive = Alive::new(cx.context());
    cx.context().journal.note("start deal");
    pause(cx.context(), 2).await;
    cx.context().journal.note("end deal");
    (say("deal"), [3, 0, 1, 2].map(|number| Deal::Work(Job(number))).into())
}

async fn work(job: &Job, cx: &ContextWith<Watch>) -> TraceUpdate {
    let _alive = Alive::new(cx.context());
    cx.context().journal.note(format!("start work {}", job.0));
    pause(cx.context(), job.0).await;
    cx.context().journal.note(format!("end work {}", job.0));
    say(format!("work {}", job.0))
}

async fn last(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
    let _alive = Alive::new(cx.context());
    cx.context().journal.note("start last");
    pause(cx.context(), 1).await;
    cx.context().journal.note("end last");
    say("last")
}

fn scripted() -> Graph<Trace, Watch> {
    StateGraph::<Trace>::with_context::<Watch>()
        .edge(START, deal)
        .edge(work, last)
        .edge(last, END)
        .compile()
        .unwrap()
}

const LOG: [&str; 6] = ["deal", "work 3", "work 0", "work 1", "work 2", "last"];

/// Polls a future at most `times` times. Returns its output if it finished.
fn poll_times<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..times {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
    }
    None
}

fn count(notes: &[String], prefix: &str) -> usize {
    notes.iter().filter(|note| note.starts_with(prefix)).count()
}

#[test]
fn dropped_run_leaves_no_task_behind() {
    let mut complete = false;
    for polls in 0..64 {
        let watch = Arc::new(Watch::default());
        let run = scripted().run(Trace::input()).context(Arc::clone(&watch));
        let outcome = poll_times(run, polls);
        assert_eq!(watch.alive.load(Ordering::SeqCst), 0, "after {polls} polls");
        assert_eq!(Arc::strong_count(&watch), 1, "nothing holds the context after {polls} polls");
        let polled = watch.polls.load(Ordering::SeqCst);
        block_on(tokio::task::yield_now());
        assert_eq!(watch.polls.load(Ordering::SeqCst), polled);
        complete |= outcome.is_some_and(|outcome| outcome.unwrap().state().log == LOG);
    }
    assert!(complete);
}

#[test]
fn dropped_multi_threaded_run_leaves_no_task_behind() {
    let runtime = workers(2);
    let mut complete = 0;
    for polls in 0..40 {
        let watch = Arc::new(Watch::default());
        let mut run = scripted().run(Trace::input()).context(Arc::clone(&watch));
        runtime.block_on(async {
            let mut polled = 0;
            // Except for the first, each poll follows a wake-up.
            let outcome = std::future::poll_fn(|cx| {
                if polled == polls {
                    return Poll::Ready(None);
                }
                polled += 1;
                let poll = Pin::new(&mut run).poll(cx).map(Some);
                if polled == polls && poll.is_pending() { Poll::Ready(None) } else { poll }
            })
            .await;
            drop(run);
            while watch.alive.load(Ordering::SeqCst) > 0 || Arc::strong_count(&watch) > 1 {
                tokio::task::yield_now().await;
            }
            let polled = watch.polls.load(Ordering::SeqCst);
            for _ in 0..20 {
                tokio::task::yield_now().await;
            }
            assert_eq!(watch.polls.load(Ordering::SeqCst), polled, "after {polls} polls");
            if let Some(outcome) = outcome {
                assert_eq!(outcome.unwrap().state().log, LOG);
                complete += 1;
            }
        });
    }
    assert!(complete > 0);
}

#[test]
fn step_after_a_drop_runs_only_unfinished_tasks() {
    for polls in 0..16 {
        let watch = Arc::new(Watch::default());
        let mut run = scripted().run(Trace::input()).context(Arc::clone(&watch)).start().unwrap();
        // In each superstep the first call is dropped and the second finishes.
        loop {
            let before = run.state().log.clone();
            let at = run.superstep();
            let next: Vec<String> = run.next().into_iter().map(str::to_owned).collect();
            match poll_times(run.step(), polls) {
                Some(more) => {
                    if !more.unwrap() {
                        break;
                    }
                    continue;
                }
                None => {
                    assert_eq!(run.state().log, before, "a dropped step leaves the state as it was");
                    assert_eq!((run.superstep(), run.next().len()), (at, next.len()));
                    assert!(run.unfinished().len() <= next.len());
                    assert_eq!(watch.alive.load(Ordering::SeqCst), 0);
                }
            }
            let finished: Vec<String> =
                watch.journal.take().into_iter().filter(|note| note.starts_with("end")).collect();
            if !block_on(run.step()).unwrap() {
                break;
            }
            for note in watch.journal.take() {
                assert!(
                    !finished.contains(&note.replace("start", "end")) && !finished.contains(&note),
                    "after {polls} polls the finished task `{note}` ran again"
                );
            }
        }
        assert_eq!(run.state().log, LOG, "after {polls} polls");
    }
}

#[test]
fn dropped_fan_out_is_not_polled_again() {
    async fn forever(job: &Job, cx: &ContextWith<Watch>) -> TraceUpdate {
        let _alive = Alive::new(cx.context());
        cx.context().journal.note(format!("start {}", job.0));
        pause(cx.context(), u32::MAX).await;
        TraceUpdate::default()
    }
    #[derive(Route)]
    enum Endless {
        #[to(forever)]
        Job(Job),
    }
    async fn start() -> Vec<Endless> {
        (0..8).map(|number| Endless::Job(Job(number))).collect()
    }
    let graph =
        StateGraph::<Trace>::with_context::<Watch>().edge(START, start).edge(forever, END).compile().unwrap();
    let runtime = workers(2);
    for streamed in [false, true] {
        let watch = Arc::new(Watch::default());
        runtime.block_on(async {
            let run = graph.run(Trace::input()).context(Arc::clone(&watch));
            let all_run = async {
                while watch.alive.load(Ordering::SeqCst) < 8 {
                    tokio::task::yield_now().await;
                }
            };
            if streamed {
                let mut events = run.stream();
                tokio::select! {
                    () = async { while events.next().await.is_some() {} } => panic!("it has no end"),
                    () = all_run => {}
                }
                drop(events);
            } else {
                tokio::select! {
                    _ = run => panic!("it has no end"),
                    () = all_run => {}
                }
            }
            // A poll that is in progress on another thread may finish first.
            while watch.alive.load(Ordering::SeqCst) > 0 || Arc::strong_count(&watch) > 1 {
                tokio::task::yield_now().await;
            }
            let polled = watch.polls.load(Ordering::SeqCst);
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            assert_eq!(watch.polls.load(Ordering::SeqCst), polled);
        });
        assert_eq!(count(&watch.journal.take(), "start"), 8);
    }
}

#[test]
fn task_finished_before_the_drop_does_not_rerun() {
    async fn quick(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
        cx.context().journal.note("quick");
        say("quick")
    }
    async fn slow(_: &Trace, cx: &ContextWith<Watch>) -> TraceUpdate {
        cx.context().journal.note("slow");
        if cx.attempt() == 1 {
            std::future::pending::<()>().await;
        }
        say("slow")
    }
    let graph = StateGraph::<Trace>::with_context::<Watch>()
        .edge(START, (quick, slow))
        .edge(quick, END)
        .edge(slow, END)
        .compile()
        .unwrap();
    let watch = Arc::new(Watch::default());
    let mut run = graph.run(Trace::input()).context(Arc::clone(&watch)).start().unwrap();
    let runtime = workers(2);
    let mut notes = Vec::new();
    runtime.block_on(async {
        {
            // The single poll spawns both tasks. Then wait until both have started and the quick one has finished.
            let mut step = pin!(run.step());
            assert!(std::future::poll_fn(|cx| Poll::Ready(step.as_mut().poll(cx).is_pending())).await);
            while notes.len() < 2 || runtime.metrics().num_alive_tasks() > 1 {
                notes.extend(watch.journal.take());
                tokio::task::yield_now().await;
            }
        }
        assert!(run.step().await.unwrap());
    });
    notes.extend(watch.journal.take());
    notes.sort();
    assert_eq!(notes, ["quick", "slow", "slow"]);
    assert_eq!(run.state().log, ["quick", "slow"]);
}

#[test]
fn dropped_stream_stops_the_run() {
    let watch = Arc::new(Watch::default());
    let mut events = scripted().run(Trace::input()).context(Arc::clone(&watch)).stream();
    block_on(async {
        for _ in 0..4 {
            events.next().await.unwrap().unwrap();
        }
        // `next` is cancel safe.
        for _ in 0..3 {
            let mut next = pin!(events.next());
            let _ = std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx).is_pending())).await;
        }
    });
    drop(events);
    assert_eq!(watch.alive.load(Ordering::SeqCst), 0);
    assert_eq!(Arc::strong_count(&watch), 1);
    let notes = watch.journal.take();
    assert_eq!((count(&notes, "end deal"), count(&notes, "end last")), (1, 0));
}

#[test]
fn dropping_next_loses_no_event() {
    let all = |drops: bool| {
        let watch = Arc::new(Watch::default());
        let mut events = scripted().run(Trace::input()).context(watch).stream();
        block_on(async {
            let mut lines = Vec::new();
            loop {
                if drops {
                    let mut next = pin!(events.next());
                    if let Poll::Ready(event) =
                        std::future::poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await
                    {
                        let Some(event) = event else { return lines };
                        lines.push(format!("{:?}", event.unwrap()));
                    }
                    continue;
                }
                let Some(event) = events.next().await else { return lines };
                lines.push(format!("{:?}", event.unwrap()));
            }
        })
    };
    assert_eq!(all(true), all(false));
}

#[test]
fn always_ready_loop_can_be_timed_out_and_aborted() {
    async fn ready() {}
    let graph = StateGraph::<Trace>::new().edge(START, ready).edge(ready, ready).compile().unwrap();
    let endless = || graph.run(Trace::input()).recursion_limit(u64::MAX);
    block_on(async {
        // The paused clock advances only if the run yields to the spawned task.
        let second = std::time::Duration::from_secs(1);
        tokio::spawn(tokio::time::advance(2 * second));
        assert!(tokio::time::timeout(second, endless()).await.is_err());
        tokio::spawn(tokio::time::advance(2 * second));
        assert!(tokio::time::timeout(second, endless().events([]).stream().next()).await.is_err());
        let run = tokio::spawn(endless());
        tokio::task::yield_now().await;
        run.abort();
        assert!(run.await.unwrap_err().is_cancelled());
    });
}
