//! A node's failure is stored before its error handler runs: the node does not run again after a crash.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{
    ContextWith, Durability, END, Graph, GraphState, NodeFailure, Outcome, Result, Route, START, StateGraph,
};

use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug)]
struct Job {
    #[state(reducer = append)]
    done: Vec<String>,
}

fn done(text: impl Into<String>) -> JobUpdate {
    Job::update().done([text.into()])
}

/// Records the nodes and handlers that ran.
#[derive(Default)]
struct Probe(Mutex<Vec<String>>);

impl Probe {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct Full;

async fn begin(_: &Job) {}

async fn work(_: &Job, cx: &ContextWith<Probe>) -> Result<JobUpdate> {
    cx.context().note("work");
    tokio::task::yield_now().await;
    Err(Full.into())
}

#[derive(Route)]
enum Way {
    #[to(mend)]
    Mend(Repair),
}

#[derive(Serialize, Deserialize)]
struct Repair {
    what: String,
}

async fn mend(_: &Job, repair: &Repair) -> JobUpdate {
    done(format!("mended {}", repair.what))
}

async fn rescue(_: &Job, failure: &NodeFailure, cx: &ContextWith<Probe>) -> Result<(JobUpdate, Way)> {
    assert_eq!(
        failure.error.is::<Full>(),
        !failure.stored,
        "the type is lost with the process, and only then"
    );
    cx.context().note(format!("rescue {}: {}", failure.attempt, failure.error));
    tokio::task::yield_now().await;
    let _: u32 = cx.step("once", async { Ok::<_, superstep::NodeError>(1) }).await?;
    tokio::task::yield_now().await;
    Ok((done("rescued"), Way::Mend(Repair { what: failure.node.clone() })))
}

async fn sibling(_: &Job, cx: &ContextWith<Probe>) -> JobUpdate {
    tokio::task::yield_now().await;
    cx.context().note("sibling");
    done("sibling")
}

fn job(with_sibling: bool) -> Graph<Job, Probe> {
    let graph = StateGraph::<Job>::with_context::<Probe>()
        .edge(START, begin)
        .edge(begin, work)
        .edge(work, END)
        .edge(mend, END)
        .on_error(work, rescue);
    let graph = if with_sibling { graph.edge(begin, sibling).edge(sibling, END) } else { graph };
    graph.compile().unwrap()
}

/// Drops a run after `polls` polls and resumes the thread. Returns `true` if the run had ended before.
async fn dropped_after(polls: u32, durability: Durability, with_sibling: bool) -> bool {
    let about = format!("{polls} polls, {durability:?}");
    let (store, probe, graph) = (TestStore::memory(), Arc::new(Probe::default()), job(with_sibling));
    let thread = store.thread(&graph);
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
    let before = probe.take();
    let outcome = if thread.state().await.unwrap().is_some() {
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await
    } else {
        thread.run(Job::input()).context(Arc::clone(&probe)).await
    };
    let expected: &[&str] =
        if with_sibling { &["rescued", "sibling", "mended work"] } else { &["rescued", "mended work"] };
    assert_eq!(outcome.unwrap().state().done, expected, "{about}");
    let after = probe.take();
    if durability != Durability::Exit && before.iter().any(|note| note.starts_with("rescue")) {
        assert!(!after.contains(&"work".to_owned()), "{about}: {before:?}, then {after:?}");
    }
    ended
}

#[tokio::test]
async fn dropped_run_resumes_at_its_error_handler() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for with_sibling in [false, true] {
            let mut polls = 0;
            while !dropped_after(polls, durability, with_sibling).await {
                polls += 1;
            }
            assert!(polls > 4, "{durability:?}");
        }
    }
}

#[derive(Serialize, Deserialize)]
struct GiveUp;

impl Question for GiveUp {
    type Answer = bool;
}

async fn asks(_: &Job, failure: &NodeFailure, cx: &ContextWith<Probe>) -> JobUpdate {
    assert!(cx.interrupt(GiveUp).await);
    done(format!("gave {} up, which had failed with: {}", failure.node, failure.error))
}

#[tokio::test]
async fn handler_with_an_interrupt_continues_in_another_process() {
    let graph = StateGraph::<Job>::with_context::<Probe>()
        .edge(START, work)
        .edge(work, END)
        .on_error(work, asks)
        .compile()
        .unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let outcome = store.thread(&graph).run(Job::input()).context(Arc::clone(&probe)).await.unwrap();
        assert!(matches!(outcome, Outcome::Interrupted(_)));
        let thread = store.thread(&graph);
        let snapshot = thread.state().await.unwrap().unwrap();
        assert_eq!(snapshot.tasks[0].error.as_ref().unwrap().text, "the disk is full");
        let asked = thread.interrupts().await.unwrap().only::<GiveUp>().unwrap();
        let outcome = thread.resume(asked.answer(true)).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(outcome.state().done, ["gave work up, which had failed with: the disk is full"]);
        assert_eq!(probe.take(), ["work"]);
    })
    .await;
}

#[tokio::test]
async fn failed_handler_lets_the_node_run_again() {
    async fn worse(_: &Job) -> Result<JobUpdate> {
        Err(superstep::NodeError::msg("worse"))
    }
    let graph = StateGraph::<Job>::with_context::<Probe>().edge(START, work).edge(work, END);
    let graph = graph.on_error(work, worse).compile().unwrap();
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        store.thread(&graph).run(Job::input()).context(Arc::clone(&probe)).await.unwrap_err();
        let snapshot = store.thread(&graph).state().await.unwrap().unwrap();
        let text = &snapshot.tasks[0].error.as_ref().unwrap().text;
        assert!(text.contains("`the disk is full`") && text.ends_with(": worse"), "{text}");
        store.thread(&graph).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(probe.take(), ["work", "work"]);
    })
    .await;
}
