//! A join that waits although nothing is left to run: what a snapshot says of it, and how the thread goes on.

use std::sync::Arc;

use superstep::thread::{Thread, as_node};
use superstep::{END, ErrorKind, Graph, Outcome, START};

use super::stores::{Place, on_every_store};
use super::story::{Story, World, begin, next, say, story, tellers, told};

tellers! { one two three }

fn joined() -> Graph<Story, World> {
    let graph = story().edge(START, (one, two)).join((one, two), three).edge(three, END);
    graph.compile().unwrap()
}

/// A thread that has run, and on which `one` has then been stood for, and `two` has not.
async fn waiting(place: &Place, graph: &Graph<Story, World>) -> Thread<Story, World> {
    let thread = place.thread(graph);
    thread.run(begin("in")).context(World::default()).await.unwrap();
    thread.update(say("a"), as_node(one)).context(World::default()).await.unwrap();
    thread
}

/// What a thread says of its joins.
async fn joins(thread: &Thread<Story, World>) -> String {
    let snapshot = thread.state().await.unwrap().unwrap();
    let names = |names: &[Arc<str>]| names.join("+");
    let joins = snapshot
        .joins
        .iter()
        .map(|join| format!("{} has {}, lacks {}", join.to, names(&join.arrived), names(&join.missing)));
    format!("{} {:?} {}", next(&snapshot), joins.collect::<Vec<_>>(), snapshot.is_finished())
}

const WAITS: &str = " [\"three has one, lacks two\"] false";

async fn is_refused(thread: &Thread<Story, World>) {
    let error = thread.resume(()).context(World::default()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::JoinNotFilled { .. }), "{error}");
}

#[tokio::test]
async fn a_snapshot_says_that_a_join_waits_and_is_not_finished() {
    let graph = joined();
    on_every_store(async |place| {
        let thread = waiting(place, &graph).await;
        assert_eq!(joins(&thread).await, WAITS);
        is_refused(&thread).await;
        assert_eq!(joins(&thread).await, WAITS);
        let history = thread.history().await.unwrap();
        assert_eq!(history[0].joins.len(), 1);
        assert!(history[1..].iter().all(|snapshot| snapshot.joins.is_empty()));
    })
    .await;
}

#[tokio::test]
async fn standing_for_the_source_that_is_missing_fills_the_join() {
    let graph = joined();
    on_every_store(async |place| {
        let thread = waiting(place, &graph).await;
        thread.update(say("b"), as_node(two)).context(World::default()).await.unwrap();
        assert_eq!(joins(&thread).await, "three [] false");
        let end = thread.resume(()).context(World::default()).await.unwrap();
        assert_eq!(told(end.state()), "in one two three a b three");
        assert_eq!(joins(&thread).await, " [] true");
    })
    .await;
}

#[tokio::test]
async fn running_the_source_that_is_missing_fills_the_join() {
    let graph = joined();
    on_every_store(async |place| {
        let thread = waiting(place, &graph).await;
        let end = thread.resume(()).goto(as_node(two)).context(World::default()).await.unwrap();
        assert_eq!(told(end.state()), "in one two three a two three");
        assert_eq!(joins(&thread).await, " [] true");
    })
    .await;
}

#[tokio::test]
async fn an_update_as_the_end_finishes_a_thread_whose_join_waits() {
    let graph = joined();
    on_every_store(async |place| {
        let thread = waiting(place, &graph).await;
        thread.update(say("no more"), as_node(END)).context(World::default()).await.unwrap();
        assert_eq!(joins(&thread).await, " [] true");
        let end = thread.resume(()).context(World::default()).await.unwrap();
        assert!(matches!(end, Outcome::Done(_)));
    })
    .await;
}

#[tokio::test]
async fn new_input_begins_with_empty_joins() {
    let graph = joined();
    on_every_store(async |place| {
        let thread = waiting(place, &graph).await;
        let end = thread.run(begin("again")).context(World::default()).await.unwrap();
        assert_eq!(told(end.state()), "in one two three a again one two three");
        assert_eq!(joins(&thread).await, " [] true");
    })
    .await;
}

#[tokio::test]
async fn a_join_that_may_stay_part_filled_is_shown_and_finishes_all_the_same() {
    let graph = story().edge(START, (one, two)).join_optional((one, two), three).edge(three, END);
    let graph = graph.compile().unwrap();
    on_every_store(async |place| {
        let thread = waiting(place, &graph).await;
        assert_eq!(joins(&thread).await, " [\"three has one, lacks two\"] true");
        assert!(matches!(thread.resume(()).context(World::default()).await.unwrap(), Outcome::Done(_)));
    })
    .await;
}
