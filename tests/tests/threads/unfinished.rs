//! Threads with pending tasks, and their status.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::run::Stop;
use superstep::thread::{PersistentGraph, ThreadStatus};
use superstep::{ContextWith, END, Graph, GraphState, NodeError, START, StateGraph};

use super::stores::{TestStore, on_every_store};

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    #[state(input)]
    does: String,
    done: bool,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// `true` once the failing node works.
type Works = AtomicBool;

async fn work(ticket: &Ticket, cx: &ContextWith<Works>) -> Result<TicketUpdate, NodeError> {
    match ticket.does.as_str() {
        "asks" => {
            cx.interrupt(Approve).await;
        }
        "fails" if !cx.context().load(Ordering::Relaxed) => return Err(NodeError::msg("no power")),
        "sleeps" => cx.sleep(Duration::from_secs(3600)).await,
        _ => {}
    }
    Ok(Ticket::update().done(true))
}

fn graph() -> Graph<Ticket, Works> {
    StateGraph::<Ticket>::with_context::<Works>().edge(START, work).edge(work, END).compile().unwrap()
}

async fn one_of_each(graph: &PersistentGraph<Ticket, Works>, works: &Arc<Works>) {
    let run = |does: &str| graph.thread(does).run(Ticket::input(does)).run_id(does);
    run("asks").context(Arc::clone(works)).await.unwrap();
    run("fails").context(Arc::clone(works)).await.unwrap_err();
    run("ends").context(Arc::clone(works)).await.unwrap();
    run("breaks").interrupt_before(work).context(Arc::clone(works)).await.unwrap();
    drop(run("crashes").context(Arc::clone(works)).start().await.unwrap());
    run("sleeps").suspend_sleeps_longer_than(Duration::ZERO).context(Arc::clone(works)).await.unwrap();
    let stop = Stop::new();
    stop.drain();
    run("stops").stop_by(&stop).context(Arc::clone(works)).await.unwrap();
    let mut late = run("cancelled").stop_by(&stop).context(Arc::clone(works)).start().await.unwrap().unwrap();
    stop.cancel();
    late.step().await.unwrap_err();
}

fn describe(status: &ThreadStatus) -> String {
    match status {
        ThreadStatus::WaitingForAnswer(questions) => format!("asks {}", questions[0].name),
        ThreadStatus::AtBreakpoint { before, .. } => format!("before {}", before[0]),
        ThreadStatus::Failed(errors) => format!("failed: {}", errors[0].text),
        ThreadStatus::Unreadable(error) => format!("unreadable: {error}"),
        other => format!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn unfinished_threads_show_their_status() {
    on_every_store(async |store| {
        let works = Arc::new(Works::new(false));
        one_of_each(&graph().with_checkpointer(store.open()), &works).await;
        // Another process reads them.
        let graph = graph().with_checkpointer(store.open());
        let all = graph.unfinished().await.unwrap();
        let descriptions: Vec<_> =
            all.iter().map(|left| format!("{}: {}", left.thread.name(), describe(&left.status))).collect();
        assert_eq!(
            descriptions,
            [
                "asks: asks Approve",
                "breaks: before work",
                "cancelled: Stopped",
                "crashes: Running",
                "fails: failed: no power",
                "sleeps: WaitingForTime",
                "stops: Stopped",
            ]
        );
        for left in &all {
            assert_eq!(left.next.iter().map(|node| &**node).collect::<Vec<_>>(), ["work"]);
            assert_eq!(left.run_id.as_deref(), Some(left.thread.name()));
            assert_eq!(left.wakes_at.is_some(), left.thread.name() == "sleeps");
        }
        let wakes_at = all[5].wakes_at.unwrap();
        let due = async |time| {
            let due = graph.due(time).await.unwrap();
            due.iter().map(|left| left.thread.name().to_owned()).collect::<Vec<_>>()
        };
        assert!(due(wakes_at - Duration::from_secs(1)).await.is_empty());
        assert_eq!(due(wakes_at).await, ["sleeps"]);
        assert_eq!(graph.unfinished().prefix("s").await.unwrap().len(), 2);
        assert_eq!(graph.unfinished().prefix("s").after("sleeps").await.unwrap().len(), 1);

        // At start-up, every thread is resumed.
        works.store(true, Ordering::Relaxed);
        for left in graph.unfinished().await.unwrap() {
            let answers = match left.status {
                ThreadStatus::WaitingForAnswer(questions) => {
                    vec![questions[0].read::<Approve>().unwrap().answer(true)]
                }
                _ => Vec::new(),
            };
            let outcome = left.thread.resume(answers).context(Arc::clone(&works)).await.unwrap();
            assert!(outcome.state().done);
        }
        assert!(graph.unfinished().await.unwrap().is_empty());
    })
    .await;
}

#[tokio::test]
async fn unfinished_pages_include_unreadable_threads() {
    let store = TestStore::memory();
    let works = Arc::new(Works::default());
    let graph = graph().with_checkpointer(store.open());
    for number in 0..150 {
        let run = graph.thread(format!("{number:03}")).run(Ticket::input("asks"));
        run.context(Arc::clone(&works)).await.unwrap();
    }
    // A graph with another node instead.
    async fn other() {}
    let renamed = StateGraph::<Ticket>::with_context::<Works>().edge(START, other).edge(other, END);
    let renamed = renamed.compile().unwrap().with_checkpointer(store.open());
    drop(renamed.thread("zzz").run(Ticket::input("x")).context(works).start().await.unwrap());
    let (mut list, mut pages, mut names) = (graph.unfinished(), 0, Vec::new());
    while let Some(page) = list.next_page().await.unwrap() {
        pages += 1;
        names.extend(page.into_iter().map(|left| left.thread.name().to_owned()));
    }
    assert!(pages > 1);
    assert_eq!(names.len(), 151);
    assert!(names.is_sorted());
}
