//! A breakpoint stops a thread once; a resumption, from whatever process, goes past it.

use std::sync::Arc;

use graph_core::thread::Thread;
use graph_core::{END, Graph, Outcome, START};

use super::stores::on_every_store;
use super::story::{Story, World, begin, next, story, tellers, told};

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
    assert!(pause.questions().is_empty());
    (pause.before().join(" "), pause.after().join(" "))
}

async fn pending(thread: &Thread<Story, World>) -> (String, String) {
    let pause = thread.pending().await.unwrap();
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
