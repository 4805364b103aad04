//! Sleeps, backoffs and interrupts with a deadline inside a subgraph.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::RecordKind;
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::run::Stop;
use superstep::thread::{ListedThread, PersistentGraph, ThreadStatus, as_node};
use superstep::{ContextWith, Durability, END, Graph, NodeError, START};
use tokio::time::{Instant, advance};

use super::stores::{TestStore, on_every_store};
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { one flaky two last }

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn sleeper(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    cx.sleep(3 * HOUR).await;
    enter(cx, "sleeper").await?;
    Ok(say("awake"))
}

async fn asks(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = tokio::select! {
        yes = cx.interrupt(Ask) => yes.to_string(),
        () = cx.sleep(2 * HOUR) => "late".to_owned(),
    };
    enter(cx, "asks").await?;
    Ok(say(yes))
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

/// Builds a graph with `node` two levels down, between other nodes.
macro_rules! deep {
    ($node:ident) => {{
        let deep = story().edge(START, one).edge(one, $node).edge($node, two).edge(two, END);
        let deep = deep.compile().unwrap().as_node("deep");
        let middle = story().edge(START, &deep).edge(&deep, END).compile().unwrap().as_node("middle");
        let middle = middle
            .mapped(|_: &Story| begin("in"), |done| say(done.appended(|story: &Story| &story.log).join("+")));
        story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap()
    }};
}

async fn unfinished_thread(graph: &PersistentGraph<Story, Probe>) -> ListedThread<Story, Probe> {
    let mut unfinished_thread = graph.unfinished().await.unwrap();
    assert_eq!(unfinished_thread.len(), 1);
    unfinished_thread.remove(0)
}

async fn due(graph: &PersistentGraph<Story, Probe>, now: SystemTime) -> usize {
    graph.due(now).await.unwrap().len()
}

fn persistent(store: &TestStore, graph: &Graph<Story, Probe>) -> PersistentGraph<Story, Probe> {
    graph.with_checkpointer(store.open())
}

/// Runs a test on the stores in memory only. While the file store works on its thread, tokio's paused clock advances.
async fn on_memory_stores(test: impl AsyncFn(&TestStore)) {
    test(&TestStore::memory()).await;
    test(&TestStore::encrypted()).await;
}

/// Waits until the store has a sleep of the innermost node. The clock is paused meanwhile.
async fn until_asleep(store: &TestStore) {
    let store = store.open();
    loop {
        let found = store.get("t", "middle/deep", None).await.unwrap().found;
        let mut records = found.iter().flat_map(|found| &found.records);
        if records.any(|record| record.key.kind == RecordKind::Sleep) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn long_sleep_inside_suspends_the_run() {
    let graph = deep!(sleeper);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let (probe, began) = (probe(), Instant::now());
            let run = store.thread(&graph).run(begin("x")).durability(durability);
            let run = run.suspend_sleeps_longer_than(HOUR).context(Arc::clone(&probe)).await.unwrap();
            let wakes_at = run.pause().unwrap().wakes_at().unwrap();
            assert!(began.elapsed() < HOUR);
            let persistent = persistent(store, &graph);
            let unfinished_thread = unfinished_thread(&persistent).await;
            assert!(
                matches!(unfinished_thread.status, ThreadStatus::WaitingForTime),
                "{:?}",
                unfinished_thread.status
            );
            assert_eq!(unfinished_thread.wakes_at, Some(wakes_at));
            assert_eq!(store.thread(&graph).interrupts().await.unwrap().wakes_at(), Some(wakes_at));
            assert_eq!(due(&persistent, wakes_at - SECOND).await, 0);
            assert_eq!(due(&persistent, wakes_at).await, 1);
            // Resumed too early, it sleeps again until the same time.
            advance(HOUR).await;
            let early = store.thread(&graph).resume(()).suspend_sleeps_longer_than(HOUR);
            let early = early.durability(durability).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(early.pause().unwrap().wakes_at(), Some(wakes_at));
            advance(2 * HOUR).await;
            let woken = Instant::now();
            let due = persistent.due(wakes_at + SECOND).await.unwrap().remove(0).thread;
            let ended = due.resume(()).durability(durability).context(Arc::clone(&probe)).await.unwrap();
            assert!(woken.elapsed() < Duration::from_secs(90));
            assert_eq!(log_of(ended.state()), "x one+awake+two last");
            assert_eq!(probe.ran(), "one sleeper two last");
            assert!(persistent.unfinished().await.unwrap().is_empty());
        })
        .await;
    }
}

#[tokio::test]
async fn thread_with_a_sleep_inside_is_due_after_a_roll_back() {
    let graph = deep!(sleeper);
    on_every_store(async |store| {
        let (probe, thread) = (probe(), store.thread(&graph));
        let run = thread.run(begin("x")).suspend_sleeps_longer_than(HOUR);
        let wakes_at = run.context(Arc::clone(&probe)).await.unwrap().pause().unwrap().wakes_at().unwrap();
        let head = thread.state().await.unwrap().unwrap().id;
        thread.update(Story::update(), as_node(END)).context(probe).await.unwrap();
        thread.roll_back_to(head).await.unwrap();
        let persistent = persistent(store, &graph);
        let unfinished = unfinished_thread(&persistent).await;
        assert!(matches!(unfinished.status, ThreadStatus::WaitingForTime), "{:?}", unfinished.status);
        assert_eq!(unfinished.wakes_at, Some(wakes_at));
        assert_eq!(due(&persistent, wakes_at).await, 1);
    })
    .await;
}

async fn sleeps_when_answered(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    cx.interrupt(Ask).await;
    cx.sleep(3 * HOUR).await;
    Ok(say("awake"))
}

#[tokio::test]
async fn roll_back_of_an_answer_forgets_the_sleep_that_followed_inside() {
    let graph = deep!(sleeps_when_answered);
    on_every_store(async |store| {
        let (probe, thread) = (probe(), store.thread(&graph));
        thread.run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let head = thread.state().await.unwrap().unwrap().id;
        let answer = thread.interrupts().await.unwrap().only::<Ask>().unwrap().answer(true);
        let resumed = thread.resume(answer).suspend_sleeps_longer_than(HOUR);
        let wakes_at = resumed.context(probe).await.unwrap().pause().unwrap().wakes_at().unwrap();
        let persistent = persistent(store, &graph);
        assert_eq!(due(&persistent, wakes_at).await, 1);
        thread.roll_back_to(head).await.unwrap();
        assert_eq!(unfinished_thread(&persistent).await.wakes_at, None);
        assert_eq!(due(&persistent, wakes_at).await, 0);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn interrupt_inside_times_out() {
    let graph = deep!(asks);
    on_every_store(async |store| {
        let probe = probe();
        store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let persistent = persistent(store, &graph);
        let unfinished_thread = unfinished_thread(&persistent).await;
        assert!(
            matches!(&unfinished_thread.status, ThreadStatus::WaitingForAnswer(asked) if asked.len() == 1),
            "{:?}",
            unfinished_thread.status
        );
        let wakes_at = unfinished_thread.wakes_at.unwrap();
        assert_eq!(due(&persistent, wakes_at - SECOND).await, 0);
        assert_eq!(due(&persistent, wakes_at).await, 1);
        advance(2 * HOUR + SECOND).await;
        let ended = unfinished_thread.thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one+late+two last");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn long_backoff_inside_suspends_the_run() {
    let deep = story().edge(START, one).edge(one, flaky).edge(flaky, two).edge(two, END);
    let policy = Policy::new().retry(Retry::attempts(3).backoff(3 * HOUR).max_backoff(9 * HOUR).factor(1.0));
    let deep = deep.policy(flaky, policy).compile().unwrap().as_node("deep");
    let middle = story().edge(START, &deep).edge(&deep, END).compile().unwrap().as_node("middle");
    let graph = story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let probe = probe();
            probe.set_failing(&["flaky"]);
            let run = store.thread(&graph).run(begin("x")).durability(durability);
            let run = run.suspend_sleeps_longer_than(HOUR).context(Arc::clone(&probe)).await.unwrap();
            let wakes_at = run.pause().unwrap().wakes_at().unwrap();
            let persistent = persistent(store, &graph);
            let unfinished_thread = unfinished_thread(&persistent).await;
            assert!(
                matches!(unfinished_thread.status, ThreadStatus::WaitingForTime),
                "{:?}",
                unfinished_thread.status
            );
            assert_eq!(unfinished_thread.wakes_at, Some(wakes_at));
            assert_eq!(due(&persistent, wakes_at).await, 1);
            probe.set_failing(&[]);
            advance(3 * HOUR + SECOND).await;
            let ended = unfinished_thread
                .thread
                .resume(())
                .durability(durability)
                .context(Arc::clone(&probe))
                .await
                .unwrap();
            assert_eq!(log_of(ended.state()), "x one flaky two last");
            assert_eq!(probe.ran(), "one flaky flaky two last");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn sleep_inside_continues_in_another_process() {
    let graph = deep!(sleeper);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_memory_stores(async |store| {
            let (probe, began) = (probe(), Instant::now());
            let thread = store.thread(&graph);
            let run = thread.run(begin("x")).durability(durability).context(Arc::clone(&probe));
            tokio::select! {
                ended = run => panic!("{:?}", ended.is_ok()),
                () = until_asleep(store) => {}
            }
            advance(HOUR).await;
            let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x one+awake+two last", "{durability:?}");
            let took = began.elapsed();
            assert!(took < 3 * HOUR + Duration::from_secs(90), "{durability:?}: {took:?}");
            assert_eq!(probe.ran(), "one sleeper two last", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn draining_does_not_wait_for_a_sleep_inside() {
    let graph = deep!(sleeper);
    on_memory_stores(async |store| {
        let (probe, stop) = (probe(), Stop::new());
        let run = store.thread(&graph).run(begin("x")).stop_by(&stop).context(Arc::clone(&probe));
        let drain_when_asleep = async {
            until_asleep(store).await;
            stop.drain();
        };
        let (outcome, ()) = tokio::join!(run, drain_when_asleep);
        let outcome = outcome.unwrap();
        let pause = outcome.pause().unwrap();
        assert!(pause.is_stopped());
        let unfinished_thread = unfinished_thread(&persistent(store, &graph)).await;
        assert!(matches!(unfinished_thread.status, ThreadStatus::Stopped), "{:?}", unfinished_thread.status);
        assert_eq!(
            (unfinished_thread.wakes_at, unfinished_thread.wakes_at.is_some()),
            (pause.wakes_at(), true)
        );
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one+awake+two last");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn update_replaces_a_sleeping_node_inside() {
    use superstep::thread::as_node;
    let deep = story().edge(START, one).edge(one, sleeper).edge(sleeper, two).edge(two, END);
    let deep = deep.compile().unwrap().as_node("deep");
    let graph = story().edge(START, &deep).edge(&deep, last).edge(last, END).compile().unwrap();
    on_every_store(async |store| {
        let (probe, began) = (probe(), Instant::now());
        let thread = store.thread(&graph);
        let run = thread.run(begin("x")).suspend_sleeps_longer_than(HOUR).context(Arc::clone(&probe));
        run.await.unwrap();
        thread
            .within(&deep)
            .update(say("shaken"), as_node(sleeper))
            .context(Arc::clone(&probe))
            .await
            .unwrap();
        assert!(matches!(unfinished_thread(&persistent(store, &graph)).await.status, ThreadStatus::Running));
        let ended = thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one shaken two last");
        assert!(began.elapsed() < HOUR);
    })
    .await;
}

#[tokio::test]
async fn unfinished_lists_failures_and_breakpoints_inside() {
    on_every_store(async |store| {
        let probe = probe();
        let graph = deep!(flaky);
        probe.set_failing(&["flaky"]);
        store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap_err();
        let failed = unfinished_thread(&persistent(store, &graph)).await;
        let ThreadStatus::Failed(errors) = &failed.status else { panic!("{:?}", failed.status) };
        assert!(errors[0].text.contains("flaky is broken"), "{errors:?}");
        store.thread(&graph).delete().await.unwrap();

        let deep = story().edge(START, one).edge(one, two).edge(two, END).interrupt_before(two);
        let deep = deep.compile().unwrap().as_node("deep");
        let graph = story().edge(START, &deep).edge(&deep, END).compile().unwrap();
        store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let at_breakpoint = unfinished_thread(&persistent(store, &graph)).await;
        let ThreadStatus::AtBreakpoint { before, .. } = &at_breakpoint.status else {
            panic!("{:?}", at_breakpoint.status)
        };
        assert_eq!(*before, ["deep/two"]);
    })
    .await;
}
