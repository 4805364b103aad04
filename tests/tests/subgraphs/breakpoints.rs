//! A breakpoint inside a subgraph call is passed once its stop was reported, and stops the call until then.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::{BatchWrite, RecordKind, TaskRecord, WriteBatch};
use superstep::interrupt::Question;
use superstep::payload::Payload;
use superstep::run::Stop;
use superstep::subgraph::Subgraph;
use superstep::thread::ThreadStatus;
use superstep::{ContextWith, END, FailureMode, Graph, NodeError, Outcome, Route, START};

use super::stores::{TestStore, on_every_store};
use super::story::{Probe, Story, StoryUpdate, begin, enter, log_of, recording_nodes, say, story};

recording_nodes! { one two three beside last }

#[derive(Serialize, Deserialize, Debug)]
struct Ask;

impl Question for Ask {
    type Answer = bool;
}

async fn ask(_: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let yes = cx.interrupt(Ask).await;
    enter(cx, "ask").await?;
    Ok(say(format!("ask {yes}")))
}

fn probe() -> Arc<Probe> {
    Arc::new(Probe::default())
}

/// A subgraph with a breakpoint before `two`, and one that is not stored.
fn walks() -> [Subgraph<Story, Probe>; 2] {
    [false, true].map(|unstored| {
        let walk = story().edge(START, one).edge(one, two).edge(two, END).interrupt_before(two);
        let walk = walk.compile().unwrap().as_node("walk");
        if unstored { walk.unstored() } else { walk }
    })
}

/// The subgraph beside a node that may fail.
fn with_sibling(walk: &Subgraph<Story, Probe>) -> Graph<Story, Probe> {
    let graph = story().edge(START, (walk, beside)).join((walk, beside), last).edge(last, END);
    graph.on_failure(FailureMode::Collect).compile().unwrap()
}

fn before(outcome: &Outcome<Story>) -> Vec<&str> {
    outcome.pause().map_or(Vec::new(), |pause| pause.before().iter().map(|node| &**node).collect())
}

#[tokio::test]
async fn failed_sibling_does_not_hide_a_breakpoint_inside() {
    for walk in walks() {
        let graph = with_sibling(&walk);
        on_every_store(async |store| {
            let probe = probe();
            probe.set_failing(&["beside"]);
            let run = || store.thread(&graph).run(begin("x")).run_id("r").context(Arc::clone(&probe));
            run().await.unwrap_err();
            run().await.unwrap_err();
            assert!(store.thread(&graph).interrupts().await.unwrap().before().is_empty());
            probe.set_failing(&[]);
            assert_eq!(before(&run().await.unwrap()), ["walk/two"]);
            assert_eq!(store.thread(&graph).interrupts().await.unwrap().before(), ["walk/two"]);
            assert!(!probe.ran().contains("two"));
            let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x one two beside last");
        })
        .await;
    }
}

#[tokio::test]
async fn failed_sibling_does_not_hide_a_breakpoint_from_a_stepper() {
    for (walk, stored) in walks().into_iter().flat_map(|walk| [(walk.clone(), false), (walk, true)]) {
        let graph = with_sibling(&walk);
        let (probe, store) = (probe(), TestStore::memory());
        probe.set_failing(&["beside"]);
        let mut run = match stored {
            false => graph.run(begin("x")).context(Arc::clone(&probe)).start().unwrap(),
            true => {
                let run = store.thread(&graph).run(begin("x")).context(Arc::clone(&probe));
                run.start().await.unwrap().unwrap()
            }
        };
        run.step().await.unwrap_err();
        run.step().await.unwrap_err();
        probe.set_failing(&[]);
        assert!(!run.step().await.unwrap());
        assert_eq!(run.pause().unwrap().before(), ["walk/two"]);
        assert_eq!(probe.ran(), "one beside beside beside");
        let ended = run.finish().await.unwrap();
        assert_eq!(log_of(ended.state()), "x one two beside last");
        assert_eq!(probe.ran(), "two last", "a call in progress continues");
    }
}

#[derive(Serialize, Deserialize, Debug)]
struct Errand {
    asks: bool,
}

#[derive(Route)]
enum Sent {
    #[to("errand")]
    Errand(Errand),
}

async fn send(_: &Story) -> Vec<Sent> {
    [false, true].map(|asks| Sent::Errand(Errand { asks })).into()
}

async fn fetch(errand: &Story, cx: &ContextWith<Probe>) -> Result<StoryUpdate, NodeError> {
    let name = errand.log.first().cloned().unwrap_or_default();
    if name == "asks" && !cx.interrupt(Ask).await {
        return Err(NodeError::msg("refused"));
    }
    Ok(say(format!("{name} fetched")))
}

/// Two calls of one node report breakpoints of the same name. Only the one whose stop was reported passes.
#[tokio::test]
async fn calls_of_one_node_pass_their_own_breakpoints() {
    for unstored in [false, true] {
        let errand = story().edge(START, fetch).edge(fetch, two).edge(two, END).interrupt_before(two);
        let errand = errand.compile().unwrap().as_node("errand").mapped_packet(
            |_: &Story, errand: &Errand| begin(if errand.asks { "asks" } else { "runs" }),
            |done| say(done.state.log.join("+")),
        );
        let errand = if unstored { errand.unstored() } else { errand };
        let graph = story().edge(START, send).edge(&errand, last).edge(last, END);
        let graph = graph.on_failure(FailureMode::Collect).compile().unwrap();
        on_every_store(async |store| {
            let probe = probe();
            let run = store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(before(&run), ["errand/two"]);
            let asked = run.pause().unwrap().only::<Ask>().unwrap();
            // The call that passes its breakpoint fails, so the other's stop is not reported.
            probe.set_failing(&["two"]);
            let answered = store.thread(&graph).resume(asked.answer(true)).context(Arc::clone(&probe));
            answered.await.unwrap_err();
            assert_eq!(probe.ran(), "two");
            probe.set_failing(&[]);
            let run = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(before(&run), ["errand/two"]);
            assert_eq!(probe.ran(), "two", "the other call passes without a stop");
            let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x runs+runs fetched+two asks+asks fetched+two last");
            assert_eq!(probe.ran(), "two last");
        })
        .await;
    }
}

#[tokio::test]
async fn answered_call_passes_the_breakpoints_before_its_question() {
    for unstored in [false, true] {
        let inner = story().edge(START, one).edge(one, ask).edge(ask, three).edge(three, END);
        let inner = inner.interrupt_before(ask).interrupt_before(three).interrupt_after(ask);
        let inner = inner.compile().unwrap().as_node("inner");
        let inner = if unstored { inner.unstored() } else { inner };
        let graph = story().edge(START, &inner).edge(&inner, last).edge(last, END).compile().unwrap();
        on_every_store(async |store| {
            let probe = probe();
            let run = store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(before(&run), ["inner/ask"]);
            let run = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            let asked = run.pause().unwrap().only::<Ask>().unwrap();
            assert!(before(&run).is_empty());
            assert!(store.thread(&graph).interrupts().await.unwrap().before().is_empty());
            let run = store.thread(&graph).resume(asked.answer(true)).context(Arc::clone(&probe));
            let run = run.await.unwrap();
            assert_eq!(before(&run), ["inner/three"]);
            assert_eq!(run.pause().unwrap().after(), ["inner/ask"]);
            let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(log_of(ended.state()), "x one ask true three last");
        })
        .await;
    }
}

#[tokio::test]
async fn breakpoint_of_an_older_version_is_passed() {
    let [walk, _] = walks();
    let graph = with_sibling(&walk);
    on_every_store(async |store| {
        let probe = probe();
        store.thread(&graph).run(begin("x")).context(Arc::clone(&probe)).await.unwrap();
        let open = store.open();
        let loaded = open.get("t", "", None).await.unwrap();
        let found = loaded.found.unwrap();
        let is_breakpoint = |record: &&TaskRecord| record.key.kind == RecordKind::Breakpoint;
        let record = found.records.iter().find(is_breakpoint).unwrap();
        let mut older: serde_json::Value = serde_json::from_slice(record.payload.bytes()).unwrap();
        older.as_object_mut().unwrap().remove("calls").unwrap();
        let older = TaskRecord::new(record.key.clone(), Payload::json(older.to_string()));
        let write = BatchWrite::records(found.checkpoint.id, Vec::new(), vec![older]);
        let batch = WriteBatch::new("t", loaded.origin.unwrap(), loaded.fence).epoch(loaded.fence.epoch);
        open.commit(batch.writes(vec![write])).await.unwrap();
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one two beside last");
    })
    .await;
}

async fn doze(_: &Story, cx: &ContextWith<Probe>) -> StoryUpdate {
    cx.sleep(HOUR).await;
    say("dozed")
}

async fn hurry(_: &Story, cx: &ContextWith<Probe>) -> StoryUpdate {
    let answer = cx.interrupt(Ask).within(HOUR).await;
    say(format!("{answer:?}"))
}

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A program resumes due threads, and a person passes breakpoints.
#[tokio::test]
async fn thread_at_a_breakpoint_inside_is_not_due() {
    let walk = walks()[0].clone();
    let dozing = story().edge(START, (&walk, doze)).edge(&walk, END).edge(doze, END).compile().unwrap();
    let hurried = story().edge(START, (&walk, hurry)).edge(&walk, END).edge(hurry, END).compile().unwrap();
    for (graph, asks) in [(dozing, false), (hurried, true)] {
        on_every_store(async |store| {
            let probe = probe();
            let run = store.thread(&graph).run(begin("x")).suspend_sleeps_longer_than(Duration::ZERO);
            let run = run.context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(before(&run), ["walk/two"]);
            let wakes_at = run.pause().unwrap().wakes_at();
            assert!(wakes_at.is_some());
            let (stored, later) = (graph.with_checkpointer(store.open()), SystemTime::now() + 2 * HOUR);
            assert!(stored.due(later).await.unwrap().is_empty());
            let [listed] = &stored.unfinished().await.unwrap()[..] else { panic!("one thread") };
            match &listed.status {
                ThreadStatus::WaitingForAnswer(_) => assert!(asks),
                ThreadStatus::AtBreakpoint { before, .. } => {
                    assert_eq!((&before[..], asks), (&["walk/two".to_owned()][..], false));
                }
                other => panic!("{other:?}"),
            }
            assert_eq!(listed.wakes_at, wakes_at.filter(|_| !asks));
            // After the breakpoint, the sleep and the question make it due.
            let resumed = store.thread(&graph).resume(()).suspend_sleeps_longer_than(Duration::ZERO);
            let run = resumed.context(Arc::clone(&probe)).await.unwrap();
            assert!(before(&run).is_empty());
            assert_eq!(probe.ran(), "one two");
            assert_eq!(stored.due(later).await.unwrap().len(), 1);
        })
        .await;
    }
}

/// A drain stops other calls of the superstep. A recovering program resumes stopped threads.
#[tokio::test]
async fn drained_thread_at_a_breakpoint_inside_is_at_the_breakpoint() {
    async fn drains(_: &Story, cx: &ContextWith<Probe>) -> StoryUpdate {
        cx.context().note("drains");
        cx.stopping().await;
        say("drained")
    }
    let walk = walks()[0].clone();
    let slow = story().edge(START, drains).edge(drains, three).edge(three, END);
    let slow = slow.compile().unwrap().as_node("slow");
    let graph = story().edge(START, (&walk, &slow)).edge(&walk, END).edge(&slow, END).compile().unwrap();
    on_every_store(async |store| {
        let (probe, stop) = (probe(), Stop::new());
        let run = store.thread(&graph).run(begin("x")).stop_by(&stop).context(Arc::clone(&probe));
        let (run, ()) = tokio::join!(run, async {
            let inner = store.open();
            let mut ran = String::new();
            // A drained run starts no nodes, and the run that resumes it is not drained.
            while !ran.contains("drains")
                || inner.get("t", "walk", None).await.unwrap().found.is_none_or(|found| {
                    !found.records.iter().any(|record| record.key.kind == RecordKind::Breakpoint)
                })
            {
                tokio::task::yield_now().await;
                ran.push_str(&probe.ran());
            }
            stop.drain();
        });
        let run = run.unwrap();
        assert_eq!(before(&run), ["walk/two"]);
        assert!(run.pause().unwrap().is_stopped());
        let listed = graph.with_checkpointer(store.open()).unfinished().await.unwrap();
        let status = listed.first().map(|listed| &listed.status);
        assert!(matches!(status, Some(ThreadStatus::AtBreakpoint { .. })), "{status:?}");
        let ended = store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(ended.state()), "x one two drained three");
    })
    .await;
}
