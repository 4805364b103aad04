//! A breakpoint stops a thread once; a resumption, from whatever process, goes past it.

use std::sync::Arc;

use superstep::thread::{Thread, as_node};
use superstep::{Durability, END, Graph, Outcome, START};

use super::stores::on_every_store;
use super::story::{Story, World, begin, next, say, story, tellers, told};

tellers! { one two three }

fn gated() -> Graph<Story, World> {
    story()
        .edge(START, one)
        .edge(one, two)
        .edge(two, three)
        .edge(three, END)
        .interrupt_before(two)
        .interrupt_after(two)
        .compile()
        .unwrap()
}

/// Where a run has stopped: what it would run next, and what it has run last.
fn gates(outcome: &Outcome<Story>) -> (String, String) {
    let pause = outcome.pause().unwrap();
    assert!(pause.interrupts().is_empty());
    (pause.before().join(" "), pause.after().join(" "))
}

async fn pending(thread: &Thread<Story, World>) -> (String, String) {
    let pause = thread.interrupts().await.unwrap();
    (pause.before().join(" "), pause.after().join(" "))
}

fn texts(before: &str, after: &str) -> (String, String) {
    (before.to_owned(), after.to_owned())
}

#[tokio::test]
async fn a_resumption_goes_past_the_gate_that_the_thread_has_stopped_at() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let outcome = place.thread(&gated()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(gates(&outcome), texts("two", ""));
        assert_eq!(pending(&place.thread(&gated())).await, texts("two", ""));
        assert_eq!(next(&place.thread(&gated()).state().await.unwrap().unwrap()), "two");

        let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(gates(&outcome), texts("", "two"));
        assert_eq!(pending(&place.thread(&gated())).await, texts("", "two"));

        let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert!(outcome.pause().is_none());
        assert_eq!(told(outcome.state()), "in one two three");
        assert_eq!(world.ran(), "one two three");
        assert_eq!(pending(&place.thread(&gated())).await, texts("", ""));
    })
    .await;
}

#[tokio::test]
async fn a_node_that_fails_behind_its_gate_is_not_gated_again() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        world.breaks(&["two"]);
        place.thread(&gated()).run(begin("in")).context(Arc::clone(&world)).await.unwrap();
        place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap_err();
        world.breaks(&[]);
        let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(gates(&outcome), texts("", "two"), "it has run");
        assert_eq!(world.ran(), "one two two");
    })
    .await;
}

#[tokio::test]
async fn the_next_run_and_a_replay_stop_again() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let thread = place.thread(&gated());
        let mut at_gate = Vec::new();
        for _ in 0..2 {
            let outcome = thread.run(begin("in")).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(gates(&outcome), texts("two", ""));
            at_gate.push(thread.state().await.unwrap().unwrap().id);
            thread.resume(()).context(Arc::clone(&world)).await.unwrap();
            thread.resume(()).context(Arc::clone(&world)).await.unwrap();
        }
        let again = place.thread(&gated()).at(at_gate[0]).run_again().context(Arc::clone(&world));
        let outcome = again.await.unwrap();
        assert_eq!(gates(&outcome), texts("two", ""));
        assert_eq!(told(outcome.state()), "in one");
        let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(told(outcome.state()), "in one two");
    })
    .await;
}

/// Runs superstep by superstep until `node` is next, and is killed there: once a superstep is durable, before anything says
/// that the run has come to its gate.
async fn killed_before(thread: &Thread<Story, World>, node: &str, world: &Arc<World>) {
    let run = thread.run(begin("in")).durability(Durability::Sync).context(Arc::clone(world));
    let mut run = run.start().await.unwrap().unwrap();
    while run.next() != [node] {
        run.step().await.unwrap();
    }
}

#[tokio::test]
async fn a_gate_that_a_killed_run_has_come_to_and_not_stopped_at_stops_the_next_once() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        for (node, gate) in [("two", texts("two", "")), ("three", texts("", "two"))] {
            let thread = place.thread(&gated());
            killed_before(&thread, node, &world).await;
            assert_eq!(pending(&place.thread(&gated())).await, texts("", ""), "nobody was told of it");
            assert_eq!(next(&thread.state().await.unwrap().unwrap()), node);
            world.ran();

            let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
            assert_eq!(gates(&outcome), gate);
            assert_eq!(world.ran(), "");
            assert_eq!(pending(&place.thread(&gated())).await, gate);

            let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
            assert!(world.ran().starts_with(node), "it goes past the gate");
            let left = outcome.pause().map(|pause| pause.after().join(" "));
            assert_eq!(left.as_deref(), (node == "two").then_some("two"));
            thread.delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn a_gate_behind_a_node_is_one_only_where_that_node_has_run() {
    on_every_store(async |place| {
        let world = Arc::new(World::default());
        let ungated = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let ungated = ungated.compile().unwrap();
        // A run without gates is killed behind the node; one with gates goes on.
        killed_before(&place.thread(&ungated), "three", &world).await;
        let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert!(outcome.pause().is_none(), "it was no gate for the run that came to it");
        // What was written in its place was not run.
        let thread = place.thread(&gated());
        thread.update(say("by hand"), as_node(two)).context(Arc::clone(&world)).await.unwrap();
        let outcome = place.thread(&gated()).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert!(outcome.pause().is_none());
        // A gate that a run was killed at is none for a graph that has it no more.
        killed_before(&place.thread(&gated()), "two", &world).await;
        place.thread(&ungated).resume(()).context(Arc::clone(&world)).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "");
    })
    .await;
}
