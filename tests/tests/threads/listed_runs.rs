//! A worker that resumes listed threads does not disturb runs that have begun since it read the list.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::ThreadStatus;
use superstep::{ContextWith, END, Error, ErrorKind, Graph, GraphState, Outcome, START, StateGraph};
use tokio::sync::Notify;

use super::stores::on_every_store;

#[derive(GraphState, Clone, Debug)]
struct Ticket {
    answer: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// Blocks a node that has an answer, until it may continue.
#[derive(Default)]
struct Door {
    reached: Notify,
    opens: Notify,
}

async fn ask(_: &Ticket, cx: &ContextWith<Door>) -> TicketUpdate {
    let answer = cx.interrupt(Approve).within(Duration::from_millis(1)).await;
    if answer.is_some() {
        cx.context().reached.notify_one();
        cx.context().opens.notified().await;
    }
    Ticket::update().answer(answer)
}

fn graph() -> Graph<Ticket, Door> {
    StateGraph::<Ticket>::with_context::<Door>().edge(START, ask).edge(ask, END).compile().unwrap()
}

fn conflict(result: Result<Outcome<Ticket>, Error>) {
    let error = result.unwrap_err();
    let ErrorKind::Conflict(conflict) = error.kind() else { panic!("{error:?}") };
    assert_ne!(conflict.expected, conflict.found);
}

#[tokio::test]
async fn worker_does_not_overtake_an_answer_that_came_after_the_list() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        let thread = graph.thread("t");
        let outcome = thread.run(Ticket::input()).context(Door::default()).await.unwrap();
        let wakes_at = outcome.pause().unwrap().wakes_at().unwrap();
        let due = graph.due(wakes_at).await.unwrap().remove(0);
        let unfinished = graph.unfinished().await.unwrap().remove(0);

        // A person answers while the worker is busy with another thread.
        let answer = thread.interrupts().await.unwrap().only::<Approve>().unwrap().answer(true);
        let door = std::sync::Arc::new(Door::default());
        let person = tokio::spawn(thread.resume(answer).context(std::sync::Arc::clone(&door)));
        door.reached.notified().await;
        conflict(due.resume(()).context(Door::default()).await);
        conflict(unfinished.resume(()).context(Door::default()).await);
        door.opens.notify_one();
        assert_eq!(person.await.unwrap().unwrap().state().answer, Some(true));
        conflict(due.resume(()).context(Door::default()).await);
    })
    .await;
}

#[tokio::test]
async fn unchanged_thread_is_resumed_from_the_list() {
    on_every_store(async |store| {
        let graph = graph().with_checkpointer(store.open());
        graph.thread("t").run(Ticket::input()).context(Door::default()).await.unwrap();
        drop(graph.thread("u").run(Ticket::input()).context(Door::default()).start().await.unwrap());
        tokio::time::sleep(Duration::from_millis(3)).await;
        for unfinished in graph.unfinished().await.unwrap() {
            let is_running = matches!(unfinished.status, ThreadStatus::Running);
            assert_eq!(is_running, unfinished.thread.name() == "u");
            let resumed = unfinished.resume(()).context(Door::default()).await.unwrap();
            assert_eq!(resumed.pause().is_some(), is_running);
        }
        // The rest is the deadline of the second thread.
        tokio::time::sleep(Duration::from_millis(3)).await;
        let due = graph.due(std::time::SystemTime::now()).await.unwrap();
        assert_eq!(due.len(), 1);
        assert_eq!(due[0].resume(()).context(Door::default()).await.unwrap().state().answer, None);
    })
    .await;
}
