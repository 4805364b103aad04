//! A node of a subgraph that sleeps, waits for its next attempt, or asks until a time.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::RecordKind;
use superstep::interrupt::Question;
use superstep::policy::{Policy, Retry};
use superstep::run::Stop;
use superstep::thread::{PersistentGraph, ThreadStatus, UnfinishedThread};
use superstep::{ContextWith, Durability, END, Graph, NodeError, START};
use tokio::time::{Instant, advance};

use super::stores::{Place, on_every_store};
use super::story::{Story, StoryUpdate, World, begin, enter, say, story, tellers, told};

tellers! { one flaky two last }

const HOUR: Duration = Duration::from_secs(60 * 60);

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn sleeper(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    cx.sleep(3 * HOUR).await;
    enter(cx, "sleeper").await?;
    Ok(say("awake"))
}

async fn asks(_: &Story, cx: &ContextWith<World>) -> Result<StoryUpdate, NodeError> {
    let yes = tokio::select! {
        yes = cx.interrupt(Ask) => yes.to_string(),
        () = cx.sleep(2 * HOUR) => "late".to_owned(),
    };
    enter(cx, "asks").await?;
    Ok(say(yes))
}

fn world() -> Arc<World> {
    Arc::new(World::default())
}

/// A graph in which `node` is two levels down, between others.
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

async fn left(graph: &PersistentGraph<Story, World>) -> UnfinishedThread<Story, World> {
    let mut left = graph.unfinished().await.unwrap();
    assert_eq!(left.len(), 1);
    left.remove(0)
}

async fn due(graph: &PersistentGraph<Story, World>, now: SystemTime) -> usize {
    graph.due(now).await.unwrap().len()
}

fn stored(place: &Place, graph: &Graph<Story, World>) -> PersistentGraph<Story, World> {
    graph.with_checkpointer(place.open())
}

/// Without the file: while something waits for its thread, the clock that stands still goes on to the next timer.
async fn on_stores_at_once(test: impl AsyncFn(&Place)) {
    test(&Place::memory()).await;
    test(&Place::encrypted()).await;
}

/// Waits until it is stored that a node two levels down sleeps; the clock stands still meanwhile.
async fn asleep(place: &Place) {
    let store = place.open();
    loop {
        let found = store.get("t", "middle/deep", None).await.unwrap().found;
        let mut records = found.iter().flat_map(|stored| &stored.records);
        if records.any(|record| record.key.kind == RecordKind::Sleep) {
            return;
        }
        tokio::task::yield_now().await;
    }
}

const SECOND: Duration = Duration::from_secs(1);

#[tokio::test(start_paused = true)]
async fn a_long_sleep_within_is_left_to_the_store() {
    let graph = deep!(sleeper);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |place| {
            let (world, began) = (world(), Instant::now());
            let run = place.thread(&graph).run(begin("x")).durability(durability);
            let run = run.suspend_sleeps_longer_than(HOUR).context(Arc::clone(&world)).await.unwrap();
            let wakes_at = run.pause().unwrap().wakes_at().unwrap();
            assert!(began.elapsed() < HOUR);
            let stored = stored(place, &graph);
            let left = left(&stored).await;
            assert!(matches!(left.status, ThreadStatus::WaitingForTime), "{:?}", left.status);
            assert_eq!(left.wakes_at, Some(wakes_at));
            assert_eq!(place.thread(&graph).interrupts().await.unwrap().wakes_at(), Some(wakes_at));
            assert_eq!(due(&stored, wakes_at - SECOND).await, 0);
            assert_eq!(due(&stored, wakes_at).await, 1);
            // Woken too early it goes back to sleep, until the same time.
            advance(HOUR).await;
            let early = place.thread(&graph).resume(()).suspend_sleeps_longer_than(HOUR);
            let early = early.durability(durability).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(early.pause().unwrap().wakes_at(), Some(wakes_at));
            advance(2 * HOUR).await;
            let woken = Instant::now();
            let due = stored.due(wakes_at + SECOND).await.unwrap().remove(0).thread;
            let ended = due.resume(()).durability(durability).context(Arc::clone(&world)).await.unwrap();
            assert!(woken.elapsed() < Duration::from_secs(90));
            assert_eq!(told(ended.state()), "x one+awake+two last");
            assert_eq!(world.ran(), "one sleeper two last");
            assert!(stored.unfinished().await.unwrap().is_empty());
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_within_runs_out() {
    let graph = deep!(asks);
    on_every_store(async |place| {
        let world = world();
        place.thread(&graph).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let stored = stored(place, &graph);
        let left = left(&stored).await;
        assert!(
            matches!(&left.status, ThreadStatus::WaitingForAnswer(asked) if asked.len() == 1),
            "{:?}",
            left.status
        );
        let wakes_at = left.wakes_at.unwrap();
        assert_eq!(due(&stored, wakes_at - SECOND).await, 0);
        assert_eq!(due(&stored, wakes_at).await, 1);
        advance(2 * HOUR + SECOND).await;
        let ended = left.thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one+late+two last");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_the_next_attempt_within_is_left_to_the_store() {
    let deep = story().edge(START, one).edge(one, flaky).edge(flaky, two).edge(two, END);
    let policy = Policy::new().retry(Retry::attempts(3).backoff(3 * HOUR).max_backoff(9 * HOUR).factor(1.0));
    let deep = deep.policy(flaky, policy).compile().unwrap().as_node("deep");
    let middle = story().edge(START, &deep).edge(&deep, END).compile().unwrap().as_node("middle");
    let graph = story().edge(START, &middle).edge(&middle, last).edge(last, END).compile().unwrap();
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |place| {
            let world = world();
            world.breaks(&["flaky"]);
            let run = place.thread(&graph).run(begin("x")).durability(durability);
            let run = run.suspend_sleeps_longer_than(HOUR).context(Arc::clone(&world)).await.unwrap();
            let wakes_at = run.pause().unwrap().wakes_at().unwrap();
            let stored = stored(place, &graph);
            let left = left(&stored).await;
            assert!(matches!(left.status, ThreadStatus::WaitingForTime), "{:?}", left.status);
            assert_eq!(left.wakes_at, Some(wakes_at));
            assert_eq!(due(&stored, wakes_at).await, 1);
            world.breaks(&[]);
            advance(3 * HOUR + SECOND).await;
            let ended =
                left.thread.resume(()).durability(durability).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(told(ended.state()), "x one flaky two last");
            assert_eq!(world.ran(), "one flaky flaky two last");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_sleeper_within_sleeps_for_the_rest_in_another_process() {
    let graph = deep!(sleeper);
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_stores_at_once(async |place| {
            let (world, began) = (world(), Instant::now());
            let thread = place.thread(&graph);
            let run = thread.run(begin("x")).durability(durability).context(Arc::clone(&world));
            tokio::select! {
                ended = run.into_future() => panic!("{:?}", ended.is_ok()),
                () = asleep(place) => {}
            }
            advance(HOUR).await;
            let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(told(ended.state()), "x one+awake+two last", "{durability:?}");
            let took = began.elapsed();
            assert!(took < 3 * HOUR + Duration::from_secs(90), "{durability:?}: {took:?}");
            assert_eq!(world.ran(), "one sleeper two last", "{durability:?}");
        })
        .await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_drained_run_does_not_wait_for_a_sleeper_within() {
    let graph = deep!(sleeper);
    on_stores_at_once(async |place| {
        let (world, stop) = (world(), Stop::new());
        let run = place.thread(&graph).run(begin("x")).stop_by(&stop).context(Arc::clone(&world));
        let pull = async {
            asleep(place).await;
            stop.drain();
        };
        let (outcome, ()) = tokio::join!(run.into_future(), pull);
        let outcome = outcome.unwrap();
        let pause = outcome.pause().unwrap();
        assert!(pause.is_stopped());
        let left = left(&stored(place, &graph)).await;
        assert!(matches!(left.status, ThreadStatus::Stopped), "{:?}", left.status);
        assert_eq!((left.wakes_at, left.wakes_at.is_some()), (pause.wakes_at(), true));
        let ended = place.thread(&graph).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one+awake+two last");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_sleeper_within_is_written_to() {
    use superstep::thread::as_node;
    let deep = story().edge(START, one).edge(one, sleeper).edge(sleeper, two).edge(two, END);
    let deep = deep.compile().unwrap().as_node("deep");
    let graph = story().edge(START, &deep).edge(&deep, last).edge(last, END).compile().unwrap();
    on_every_store(async |place| {
        let (world, began) = (world(), Instant::now());
        let thread = place.thread(&graph);
        let run = thread.run(begin("x")).suspend_sleeps_longer_than(HOUR).context(Arc::clone(&world));
        run.await.unwrap();
        thread
            .within(&deep)
            .update(say("shaken"), as_node(sleeper))
            .context(Arc::clone(&world))
            .await
            .unwrap();
        assert!(matches!(left(&stored(place, &graph)).await.status, ThreadStatus::Running));
        let ended = thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(ended.state()), "x one shaken two last");
        assert!(began.elapsed() < HOUR);
    })
    .await;
}

#[tokio::test]
async fn what_is_left_within_is_seen_from_outside() {
    on_every_store(async |place| {
        let world = world();
        let graph = deep!(flaky);
        world.breaks(&["flaky"]);
        place.thread(&graph).run(begin("x")).context(Arc::clone(&world)).await.unwrap_err();
        let failed = left(&stored(place, &graph)).await;
        let ThreadStatus::Failed(errors) = &failed.status else { panic!("{:?}", failed.status) };
        assert!(errors[0].text.contains("flaky is broken"), "{errors:?}");
        place.thread(&graph).delete().await.unwrap();

        let deep = story().edge(START, one).edge(one, two).edge(two, END).interrupt_before(two);
        let deep = deep.compile().unwrap().as_node("deep");
        let graph = story().edge(START, &deep).edge(&deep, END).compile().unwrap();
        place.thread(&graph).run(begin("x")).context(Arc::clone(&world)).await.unwrap();
        let stands = left(&stored(place, &graph)).await;
        let ThreadStatus::AtBreakpoint { before, .. } = &stands.status else { panic!("{:?}", stands.status) };
        assert_eq!(*before, ["deep/two"]);
    })
    .await;
}
