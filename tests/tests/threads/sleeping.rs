//! Durable sleeps: the wake-up time is stored before the sleep starts.

use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::run::Stop;
use superstep::thread::PersistentGraph;
use superstep::{
    Context, ContextWith, Durability, END, ErrorKind, Graph, GraphState, NodeError, Outcome, START,
    StateGraph,
};
use tokio::time::Instant;

use super::stores::{TestStore, on_every_store};

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(GraphState, Clone, Debug)]
pub(crate) struct Night {
    #[state(reducer = append)]
    pub(crate) log: Vec<String>,
}

/// Records the work that nodes did.
pub(crate) type Done = Mutex<Vec<&'static str>>;

fn say(text: impl Into<String>) -> NightUpdate {
    Night::update().log([text.into()])
}

async fn sleeper(_: &Night, cx: &ContextWith<Done>) -> Result<NightUpdate, NodeError> {
    let work = async {
        cx.context().lock().unwrap().push("before");
        Ok::<_, NodeError>(())
    };
    cx.step("before", work).await?;
    cx.sleep(3 * HOUR).await;
    Ok(say("awake"))
}

pub(crate) fn graph() -> Graph<Night, Done> {
    let graph = StateGraph::<Night>::with_context::<Done>();
    graph.edge(START, sleeper).edge(sleeper, END).compile().unwrap()
}

/// Asserts that at least `duration` has passed since, and at most two minutes more.
#[track_caller]
fn assert_elapsed(since: Instant, duration: Duration, about: &str) {
    let passed = since.elapsed();
    assert!(passed >= duration && passed < duration + 2 * Duration::from_secs(60), "{about}: {passed:?}");
}

/// Returns `true` if the store shows a sleeping task on any thread.
async fn has_sleeping_task(graph: &PersistentGraph<Night, Done>) -> bool {
    graph.unfinished().await.unwrap().iter().any(|left| left.wakes_at.is_some())
}

/// Polls a future up to `polls` times. Returns its output if it is ready.
async fn poll_times<T>(polls: u32, future: &mut (impl Future<Output = T> + Unpin)) -> Option<T> {
    for _ in 0..polls {
        let once = poll_fn(|cx| Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx))).await;
        if let Poll::Ready(output) = once {
            return Some(output);
        }
        tokio::task::yield_now().await;
    }
    None
}

#[tokio::test(start_paused = true)]
async fn dropped_sleep_continues_for_the_rest() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for polls in 0..12 {
            for store in [TestStore::memory(), TestStore::file()] {
                let about = format!("{polls} polls, {durability:?}");
                let (done, began) = (Arc::new(Done::default()), Instant::now());
                let graph = graph().with_checkpointer(store.open());
                let thread = graph.thread("t");
                let run = thread.run(Night::input()).run_id("night").durability(durability);
                let mut run = run.context(Arc::clone(&done));
                assert!(poll_times(polls, &mut run).await.is_none(), "{about}");
                let asleep = has_sleeping_task(&graph).await;
                drop(run);
                tokio::time::advance(HOUR).await;
                let again = Instant::now();
                let run = graph.thread("t").run(Night::input()).run_id("night").durability(durability);
                assert_eq!(run.context(Arc::clone(&done)).await.unwrap().state().log, ["awake"], "{about}");
                if asleep {
                    assert_elapsed(began, 3 * HOUR, &about);
                    assert_eq!(*done.lock().unwrap(), ["before"], "{about}");
                } else {
                    assert!(again.elapsed() < 3 * HOUR + Duration::from_secs(120), "{about}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn long_sleep_suspends_the_run() {
    on_every_store(async |store| {
        let done = Arc::new(Done::default());
        let began = Instant::now();
        let thread = || store.thread(&graph());
        let short = thread().run(Night::input()).suspend_sleeps_longer_than(HOUR).context(Arc::clone(&done));
        let outcome = short.await.unwrap();
        assert!(began.elapsed() < HOUR);
        let Outcome::Interrupted(pause) = &outcome else { panic!("{outcome:?}") };
        let wakes_at = pause.wakes_at().unwrap();
        assert!(pause.interrupts().is_empty() && !pause.is_stopped());
        assert_eq!(pause.next(), ["sleeper"]);
        assert_eq!(thread().interrupts().await.unwrap().wakes_at(), Some(wakes_at));
        // Resumed too early, it sleeps again until the same time.
        tokio::time::advance(HOUR).await;
        let early = thread().resume(()).suspend_sleeps_longer_than(HOUR).context(Arc::clone(&done)).await;
        assert_eq!(early.unwrap().pause().unwrap().wakes_at(), Some(wakes_at));
        // The rest is short enough to sleep in the process.
        tokio::time::advance(HOUR).await;
        let rest = thread().resume(()).suspend_sleeps_longer_than(HOUR + Duration::from_secs(60));
        assert_eq!(rest.context(Arc::clone(&done)).await.unwrap().state().log, ["awake"]);
        assert_elapsed(began, 3 * HOUR, "resumed");
        assert_eq!(*done.lock().unwrap(), ["before"]);
        assert!(thread().interrupts().await.unwrap().wakes_at().is_none());
    })
    .await;
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

async fn approval(_: &Night, cx: &Context) -> NightUpdate {
    tokio::select! {
        yes = cx.interrupt(Approve) => say(format!("answered {yes}")),
        () = cx.sleep(24 * HOUR) => say("nobody answered"),
    }
}

#[tokio::test(start_paused = true)]
async fn interrupt_beside_a_sleep_times_out() {
    let approvals = StateGraph::<Night>::new().edge(START, approval).edge(approval, END).compile().unwrap();
    on_every_store(async |store| {
        for answer in [true, false] {
            let graph = approvals.with_checkpointer(store.open());
            let thread = graph.thread(format!("{answer}"));
            let outcome = thread.run(Night::input()).run_id("once").await.unwrap();
            let wakes_at = outcome.pause().unwrap().wakes_at().unwrap();
            assert!(graph.due(wakes_at - HOUR).await.unwrap().is_empty());
            // A client that starts the run again gets the same interrupt.
            let again = thread.run(Night::input()).run_id("once").await.unwrap();
            assert_eq!(again.pause().unwrap().wakes_at(), Some(wakes_at));
            if answer {
                let question = thread.interrupts().await.unwrap().only::<Approve>().unwrap();
                let outcome = thread.resume(question.answer(true)).await.unwrap();
                assert_eq!(outcome.state().log, ["answered true"]);
            } else {
                tokio::time::advance(24 * HOUR + HOUR).await;
                let due = graph.due(wakes_at).await.unwrap();
                assert_eq!(due.len(), 1);
                let outcome = due[0].thread.resume(()).await.unwrap();
                assert_eq!(outcome.state().log, ["nobody answered"]);
            }
            assert!(graph.unfinished().await.unwrap().is_empty());
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn draining_does_not_wait_for_sleeps() {
    on_every_store(async |store| {
        let (done, stop) = (Arc::new(Done::default()), Stop::new());
        let graph = graph().with_checkpointer(store.open());
        let thread = graph.thread("t");
        let mut run = thread.run(Night::input()).stop_by(&stop).context(Arc::clone(&done));
        while !has_sleeping_task(&graph).await {
            assert!(poll_times(1, &mut run).await.is_none());
        }
        let drained = Instant::now();
        stop.drain();
        let outcome = run.await.unwrap();
        assert!(drained.elapsed() < HOUR);
        let pause = outcome.pause().unwrap();
        assert!(pause.is_stopped() && pause.wakes_at().is_some());
        let due = graph.due(pause.wakes_at().unwrap()).await.unwrap();
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].thread.resume(()).context(done).await.unwrap().state().log, ["awake"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn suspension_waits_for_concurrent_steps() {
    async fn both(_: &Night, cx: &ContextWith<Done>) -> Result<NightUpdate, NodeError> {
        let work = async {
            tokio::time::sleep(HOUR).await;
            cx.context().lock().unwrap().push("worked");
            Ok::<_, NodeError>(())
        };
        let (worked, ()) = tokio::join!(cx.step("work", work), cx.sleep(24 * HOUR));
        worked?;
        Ok(say("awake"))
    }
    let graph =
        StateGraph::<Night>::with_context::<Done>().edge(START, both).edge(both, END).compile().unwrap();
    let store = TestStore::memory();
    let (done, began) = (Arc::new(Done::default()), Instant::now());
    let run = || store.thread(&graph).run(Night::input()).run_id("r").suspend_sleeps_longer_than(HOUR);
    let outcome = run().context(Arc::clone(&done)).await.unwrap();
    assert_elapsed(began, HOUR, "the step");
    assert!(outcome.pause().unwrap().wakes_at().is_some());
    tokio::time::advance(24 * HOUR).await;
    assert_eq!(run().context(Arc::clone(&done)).await.unwrap().state().log, ["awake"]);
    assert_eq!(*done.lock().unwrap(), ["worked"]);
}

#[tokio::test(start_paused = true)]
async fn sleeps_of_a_task_are_independent() {
    async fn several(_: &Night, cx: &ContextWith<Done>) -> Result<NightUpdate, NodeError> {
        // A sleep inside a step runs once, with the step.
        let nap = async {
            cx.sleep(HOUR).await;
            Ok::<_, NodeError>(())
        };
        cx.step("nap", nap).await?;
        tokio::join!(cx.sleep(HOUR), cx.sleep(2 * HOUR), cx.sleep(3 * HOUR).keyed("third"));
        cx.sleep_until(SystemTime::UNIX_EPOCH).await;
        if cx.context().lock().unwrap().len() < 3 {
            cx.context().lock().unwrap().push("failed");
            return Err(NodeError::msg("not yet"));
        }
        Ok(say("awake"))
    }
    let graph = StateGraph::<Night>::with_context::<Done>()
        .edge(START, several)
        .edge(several, END)
        .compile()
        .unwrap();
    let (done, began) = (Arc::new(Done::default()), Instant::now());
    let store = TestStore::memory();
    let thread = store.thread(&graph);
    thread.run(Night::input()).context(Arc::clone(&done)).await.unwrap_err();
    assert_elapsed(began, 4 * HOUR, "in all");
    let failed = Instant::now();
    thread.resume(()).context(Arc::clone(&done)).await.unwrap_err();
    thread.resume(()).context(Arc::clone(&done)).await.unwrap_err();
    assert_eq!(thread.resume(()).context(done).await.unwrap().state().log, ["awake"]);
    assert_elapsed(failed, Duration::ZERO, "once more");
}

#[tokio::test(start_paused = true)]
async fn sleep_without_a_checkpointer_runs_once() {
    async fn weary(_: &Night, cx: &Context) -> Result<NightUpdate, NodeError> {
        cx.sleep(HOUR).await;
        if cx.attempt() == 1 { Err(NodeError::msg("once more")) } else { Ok(say("awake")) }
    }
    let graph = StateGraph::<Night>::new().edge(START, weary).edge(weary, END).compile().unwrap();
    let (began, stop) = (Instant::now(), Stop::new());
    let mut run = graph.run(Night::input()).stop_by(&stop).start().unwrap();
    // Without a checkpointer, draining waits for the sleep.
    let (result, ()) = tokio::join!(run.step(), async { stop.drain() });
    result.unwrap_err();
    assert_elapsed(began, HOUR, "the first attempt");
    run.stop_by(&Stop::new());
    assert_eq!(run.finish().await.unwrap().state().log, ["awake"]);
    assert_elapsed(began, HOUR, "the second");
}

#[test]
fn invalid_sleep_fails_its_task() {
    async fn forever(_: &Night, cx: &Context) {
        cx.sleep(Duration::MAX).await;
    }
    async fn twice(_: &Night, cx: &Context) {
        tokio::join!(cx.sleep(HOUR).keyed("a"), cx.sleep(HOUR).keyed("a"));
    }
    async fn timeless(_: &Night, cx: &Context) {
        cx.sleep(HOUR).await;
    }
    let graphs = [
        StateGraph::<Night>::new().edge(START, forever).edge(forever, END).compile().unwrap(),
        StateGraph::<Night>::new().edge(START, twice).edge(twice, END).compile().unwrap(),
        StateGraph::<Night>::new().edge(START, timeless).edge(timeless, END).compile().unwrap(),
    ];
    let texts = graphs.map(|graph| {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let error = runtime.block_on(TestStore::memory().thread(&graph).run(Night::input())).unwrap_err();
        let ErrorKind::Node { first, .. } = error.kind() else { panic!("{error}") };
        first.error.to_string()
    });
    assert_eq!(
        texts,
        [
            "a sleep cannot start: its end is beyond the range of the system clock",
            "a sleep cannot start: its key is used twice in one attempt",
            "a sleep cannot start: it needs a tokio runtime with its timer enabled (`enable_time`)",
        ]
    );
}

/// A long backoff suspends the run like a sleep.
#[tokio::test(start_paused = true)]
async fn draining_does_not_wait_for_backoffs() {
    async fn flaky(_: &Night, cx: &ContextWith<Done>) -> Result<NightUpdate, NodeError> {
        cx.context().lock().unwrap().push("tried");
        if cx.attempt() == 1 { Err(NodeError::msg("no power")) } else { Ok(say("awake")) }
    }
    let flaky_graph = StateGraph::<Night>::with_context::<Done>()
        .edge(START, flaky)
        .edge(flaky, END)
        .policy(flaky, Policy::new().retry(Retry::attempts(2).backoff(3 * HOUR).max_backoff(3 * HOUR)))
        .compile()
        .unwrap();
    on_every_store(async |store| {
        for long in [false, true] {
            let graph = flaky_graph.with_checkpointer(store.open());
            let (done, stop, began) = (Arc::new(Done::default()), Stop::new(), Instant::now());
            let thread = graph.thread(format!("{long}"));
            let mut run = thread.run(Night::input()).stop_by(&stop);
            if long {
                run = run.suspend_sleeps_longer_than(HOUR);
            }
            let (outcome, ()) = tokio::join!(run.context(Arc::clone(&done)), async {
                if !long {
                    while done.lock().unwrap().is_empty() {
                        tokio::task::yield_now().await;
                    }
                    stop.drain();
                }
            });
            let outcome = outcome.unwrap();
            let pause = outcome.pause().unwrap();
            assert_eq!((pause.is_stopped(), pause.wakes_at().is_some()), (!long, true));
            let due = graph.due(pause.wakes_at().unwrap()).await.unwrap();
            assert_eq!(
                due[0].thread.resume(()).context(Arc::clone(&done)).await.unwrap().state().log,
                ["awake"]
            );
            assert_elapsed(began, 3 * HOUR, "tried again");
            assert_eq!(*done.lock().unwrap(), ["tried", "tried"]);
        }
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn handler_sleep_is_independent_of_its_nodes() {
    async fn fails(_: &Night, cx: &ContextWith<Done>) -> Result<NightUpdate, NodeError> {
        cx.sleep(HOUR).await;
        Err(NodeError::msg("overslept"))
    }
    async fn rescue(_: &Night, _: &superstep::NodeFailure, cx: &Context) -> NightUpdate {
        cx.sleep(3 * HOUR).await;
        say("rescued")
    }
    let graph = StateGraph::<Night>::with_context::<Done>();
    let graph = graph.edge(START, fails).edge(fails, END).on_error(fails, rescue).compile().unwrap();
    on_every_store(async |store| {
        let since = Instant::now();
        let ended = store.thread(&graph).run(Night::input()).context(Done::default()).await.unwrap();
        assert_eq!(ended.state().log, ["rescued"]);
        assert_elapsed(since, 4 * HOUR, "both sleep");
    })
    .await;
}
