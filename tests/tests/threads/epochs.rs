//! Calls that name the epoch in which they expect their thread.

use std::time::Duration;

use superstep::interrupt::Question;
use superstep::thread::{OnConflict, Thread, as_node};
use superstep::{Context, END, Error, ErrorKind, EventKind, Graph, GraphState, START, StateGraph};
use tests::stores::on_every_store;

#[derive(GraphState, Clone)]
struct Job {
    #[state(input, reducer = append)]
    lines: Vec<String>,
}

#[derive(serde::Serialize, serde::Deserialize)]
struct Ready;

impl Question for Ready {
    type Answer = bool;
}

async fn ask(_: &Job, cx: &Context) {
    cx.interrupt(Ready).await;
}

async fn work(_: &Job) {}

fn graph() -> Graph<Job> {
    StateGraph::<Job>::new().edge(START, ask).edge(ask, work).edge(work, END).compile().unwrap()
}

fn line(text: &str) -> [String; 1] {
    [text.to_owned()]
}

async fn epoch(thread: &Thread<Job>) -> u64 {
    thread.state().await.unwrap().unwrap().epoch
}

/// Checks the error of a late call, and that it has changed nothing.
#[track_caller]
fn is_late<T>(result: Result<T, Error>, expected: u64, found: u64) {
    let Err(error) = result else { panic!("a late call was accepted") };
    let ErrorKind::Conflict(conflict) = error.kind() else { panic!("{error}") };
    assert_eq!((conflict.expected.epoch, conflict.found.epoch), (expected, found));
}

#[tokio::test]
async fn late_calls_are_refused_and_change_nothing() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        is_late(thread.run(Job::input().lines(line("x"))).if_epoch(1).await, 1, 0);
        assert!(thread.state().await.unwrap().is_none());

        thread.run(Job::input().lines(line("a"))).if_epoch(0).await.unwrap();
        assert_eq!(epoch(&thread).await, 1);
        let head = thread.state().await.unwrap().unwrap().id;
        let answer = || async { thread.interrupts().await.unwrap().only::<Ready>().unwrap().answer(true) };

        is_late(thread.run(Job::input().lines(line("x"))).abandon_pending().if_epoch(0).await, 0, 1);
        is_late(thread.resume(answer().await).if_epoch(0).await, 0, 1);
        is_late(thread.resume(answer().await).if_epoch(2).start().await, 2, 1);
        is_late(thread.at(head).run_again().if_epoch(0).await, 0, 1);
        is_late(thread.update(Job::update().lines(line("x")), as_node(ask)).if_epoch(0).await, 0, 1);
        assert_eq!(thread.state().await.unwrap().unwrap().id, head);
        assert_eq!(epoch(&thread).await, 1);

        let job = thread.resume(answer().await).if_epoch(1).await.unwrap().into_state();
        assert_eq!(job.lines, ["a"]);
        assert_eq!(epoch(&thread).await, 2);
        thread.update(Job::update().lines(line("b")), as_node(END)).if_epoch(2).await.unwrap();
        assert_eq!(epoch(&thread).await, 3);
        thread.at(head).run_again().if_epoch(3).await.unwrap();
        assert_eq!(epoch(&thread).await, 4);
    })
    .await;
}

#[tokio::test]
async fn second_delivery_of_a_run_id_does_not_overtake_the_first() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let deliver = |epoch| thread.run(Job::input().lines(line("a"))).run_id("delivery").if_epoch(epoch);
        let mut first = deliver(0).start().await.unwrap().unwrap();
        // The first one has begun and not ended.
        is_late(deliver(0).await, 0, 1);
        while first.step().await.unwrap() {}
        first.finish().await.unwrap();

        // An outcome is returned whatever the epoch is.
        assert!(deliver(0).await.unwrap().pause().is_some());
        assert_eq!(epoch(&thread).await, 1);
    })
    .await;
}

#[tokio::test]
async fn waiting_call_is_late_once_another_run_has_begun() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Job::input().lines(line("a"))).await.unwrap();
        let ready = thread.interrupts().await.unwrap().only::<Ready>().unwrap().answer(true);
        let wait = OnConflict::Wait(Duration::from_secs(60));
        let waiting = thread.run(Job::input().lines(line("b"))).on_conflict(wait).if_epoch(1);
        let (late, resumed) = tokio::join!(waiting, thread.resume(ready));
        assert_eq!(resumed.unwrap().into_state().lines, ["a"]);
        is_late(late, 1, 2);
        assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().lines, ["a"]);
    })
    .await;
}

#[tokio::test]
async fn history_and_events_show_the_epoch() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Job::input().lines(line("a"))).await.unwrap();
        let ready = thread.interrupts().await.unwrap().only::<Ready>().unwrap().answer(true);
        let mut seen = Vec::new();
        let run = thread.resume(ready).stream().for_each(|event| {
            if let EventKind::Checkpoint { epoch, .. } = event.kind {
                seen.push(epoch);
                assert_eq!(serde_json::to_value(event).unwrap()["epoch"], epoch);
            }
        });
        run.await.unwrap();
        assert_eq!(seen, [2, 2]);
        let history = thread.history().await.unwrap();
        assert!(history.iter().all(|snapshot| snapshot.epoch == 2));
        assert_eq!(serde_json::to_value(&history[0]).unwrap()["epoch"], 2);
    })
    .await;
}

#[tokio::test]
async fn late_deletion_and_copy_are_refused_and_change_nothing() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        // A thread that does not exist is no conflict.
        assert!(!thread.delete().if_epoch(3).await.unwrap());
        assert!(!thread.delete().await.unwrap());
        let missing = thread.copy("copy").if_epoch(1).await.unwrap_err();
        assert!(matches!(missing.kind(), ErrorKind::Checkpoint(_)), "{missing}");
        thread.run(Job::input().lines(line("a"))).await.unwrap();
        let head = thread.state().await.unwrap().unwrap().id;
        is_late(thread.delete().if_epoch(0).await, 0, 1);
        is_late(thread.delete().if_epoch(2).await, 2, 1);
        is_late(thread.copy("copy").if_epoch(0).await.map(drop), 0, 1);
        assert_eq!(thread.state().await.unwrap().unwrap().id, head);
        let copy = thread.copy("copy").if_epoch(1).await.unwrap();
        assert_eq!(copy.name(), "copy");
        assert_eq!(copy.state().await.unwrap().unwrap().id, head);
        // The copy has the epoch of the original.
        is_late(copy.delete().if_epoch(0).await, 0, 1);
        assert!(copy.delete().if_epoch(1).await.unwrap());
        assert!(copy.state().await.unwrap().is_none());
        assert!(thread.delete().if_epoch(1).await.unwrap());
    })
    .await;
}

/// A cleanup that comes too late does not delete a thread that has been used again.
#[tokio::test]
async fn deletion_races_a_run() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(Job::input().lines(line("a"))).await.unwrap();
        let running = thread.run(Job::input().lines(line("b"))).abandon_pending().start().await.unwrap();
        is_late(thread.delete().if_epoch(1).await, 1, 2);
        drop(running);
        assert!(thread.state().await.unwrap().is_some());
    })
    .await;
}
