//! A join that still waits when nothing is left to run.

use std::sync::Arc;

use superstep::thread::{Thread, as_node};
use superstep::{END, ErrorKind, Graph, Outcome, START};

use super::stores::{TestStore, on_every_store};
use super::story::{Probe, Story, begin, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three }

fn joined() -> Graph<Story, Probe> {
    let graph = story().edge(START, (one, two)).join((one, two), three).edge(three, END);
    graph.compile().unwrap()
}

/// Returns a finished thread with a later update as `one`, but none as `two`.
async fn waiting(store: &TestStore, graph: &Graph<Story, Probe>) -> Thread<Story, Probe> {
    let thread = store.thread(graph);
    thread.run(begin("in")).context(Probe::default()).await.unwrap();
    thread.update(say("a"), as_node(one)).context(Probe::default()).await.unwrap();
    thread
}

/// Describes the joins of the newest snapshot.
async fn describe_joins(thread: &Thread<Story, Probe>) -> String {
    let snapshot = thread.state().await.unwrap().unwrap();
    let names = |names: &[Arc<str>]| names.join("+");
    let describe_joins = snapshot
        .joins
        .iter()
        .map(|join| format!("{} has {}, lacks {}", join.to, names(&join.arrived), names(&join.missing)));
    format!("{} {:?} {}", next(&snapshot), describe_joins.collect::<Vec<_>>(), snapshot.is_finished())
}

const WAITS: &str = " [\"three has one, lacks two\"] false";

async fn assert_resume_fails(thread: &Thread<Story, Probe>) {
    let error = thread.resume(()).context(Probe::default()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::JoinNotFilled { .. }), "{error}");
}

#[tokio::test]
async fn snapshot_shows_a_waiting_join() {
    let graph = joined();
    on_every_store(async |store| {
        let thread = waiting(store, &graph).await;
        assert_eq!(describe_joins(&thread).await, WAITS);
        assert_resume_fails(&thread).await;
        assert_eq!(describe_joins(&thread).await, WAITS);
        let history = thread.history().await.unwrap();
        assert_eq!(history[0].joins.len(), 1);
        assert!(history[1..].iter().all(|snapshot| snapshot.joins.is_empty()));
    })
    .await;
}

#[tokio::test]
async fn update_as_the_missing_source_fills_the_join() {
    let graph = joined();
    on_every_store(async |store| {
        let thread = waiting(store, &graph).await;
        thread.update(say("b"), as_node(two)).context(Probe::default()).await.unwrap();
        assert_eq!(describe_joins(&thread).await, "three [] false");
        let end = thread.resume(()).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(end.state()), "in one two three a b three");
        assert_eq!(describe_joins(&thread).await, " [] true");
    })
    .await;
}

#[tokio::test]
async fn goto_the_missing_source_fills_the_join() {
    let graph = joined();
    on_every_store(async |store| {
        let thread = waiting(store, &graph).await;
        let end = thread.resume(()).goto(as_node(two)).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(end.state()), "in one two three a two three");
        assert_eq!(describe_joins(&thread).await, " [] true");
    })
    .await;
}

#[tokio::test]
async fn update_as_end_finishes_a_waiting_join() {
    let graph = joined();
    on_every_store(async |store| {
        let thread = waiting(store, &graph).await;
        thread.update(say("no more"), as_node(END)).context(Probe::default()).await.unwrap();
        assert_eq!(describe_joins(&thread).await, " [] true");
        let end = thread.resume(()).context(Probe::default()).await.unwrap();
        assert!(matches!(end, Outcome::Done(_)));
    })
    .await;
}

#[tokio::test]
async fn new_input_starts_with_empty_joins() {
    let graph = joined();
    on_every_store(async |store| {
        let thread = waiting(store, &graph).await;
        let end = thread.run(begin("again")).context(Probe::default()).await.unwrap();
        assert_eq!(log_of(end.state()), "in one two three a again one two three");
        assert_eq!(describe_joins(&thread).await, " [] true");
    })
    .await;
}

#[tokio::test]
async fn optional_join_finishes_partly_filled() {
    let graph = story().edge(START, (one, two)).join_optional((one, two), three).edge(three, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |store| {
        let thread = waiting(store, &graph).await;
        assert_eq!(describe_joins(&thread).await, " [\"three has one, lacks two\"] true");
        assert!(matches!(thread.resume(()).context(Probe::default()).await.unwrap(), Outcome::Done(_)));
    })
    .await;
}
