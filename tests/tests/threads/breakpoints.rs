//! A breakpoint stops a thread once. A resume, from any process, continues past it.

use std::sync::Arc;

use superstep::thread::{Thread, as_node};
use superstep::{Durability, END, Graph, Outcome, START};

use super::stores::on_every_store;
use super::story::{Probe, Story, begin, log_of, next, recording_nodes, say, story};

recording_nodes! { one two three }

fn with_breakpoints() -> Graph<Story, Probe> {
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

/// Returns the nodes before and after which a run has stopped.
fn stopped_at(outcome: &Outcome<Story>) -> (String, String) {
    let pause = outcome.pause().unwrap();
    assert!(pause.interrupts().is_empty());
    (pause.before().join(" "), pause.after().join(" "))
}

async fn pending(thread: &Thread<Story, Probe>) -> (String, String) {
    let pause = thread.interrupts().await.unwrap();
    (pause.before().join(" "), pause.after().join(" "))
}

fn pair(before: &str, after: &str) -> (String, String) {
    (before.to_owned(), after.to_owned())
}

#[tokio::test]
async fn resume_passes_the_breakpoint() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let outcome =
            store.thread(&with_breakpoints()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(stopped_at(&outcome), pair("two", ""));
        assert_eq!(pending(&store.thread(&with_breakpoints())).await, pair("two", ""));
        assert_eq!(next(&store.thread(&with_breakpoints()).state().await.unwrap().unwrap()), "two");

        let outcome = store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(stopped_at(&outcome), pair("", "two"));
        assert_eq!(pending(&store.thread(&with_breakpoints())).await, pair("", "two"));

        let outcome = store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert!(outcome.pause().is_none());
        assert_eq!(log_of(outcome.state()), "in one two three");
        assert_eq!(probe.ran(), "one two three");
        assert_eq!(pending(&store.thread(&with_breakpoints())).await, pair("", ""));
    })
    .await;
}

#[tokio::test]
async fn failed_node_does_not_stop_at_its_breakpoint_again() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        store.thread(&with_breakpoints()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        probe.set_failing(&[]);
        let outcome = store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(stopped_at(&outcome), pair("", "two"), "it has run");
        assert_eq!(probe.ran(), "one two two");
    })
    .await;
}

/// The run has left the breakpoint, so a thread whose node fails or asks a question is not shown at it.
#[tokio::test]
async fn thread_does_not_show_a_breakpoint_that_it_has_left() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        probe.set_failing(&["two"]);
        store.thread(&with_breakpoints()).run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(pending(&store.thread(&with_breakpoints())).await, pair("two", ""));
        store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap_err();
        assert_eq!(pending(&store.thread(&with_breakpoints())).await, pair("", ""));
    })
    .await;
}

#[tokio::test]
async fn next_run_and_replay_stop_again() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let thread = store.thread(&with_breakpoints());
        let mut stopped_checkpoints = Vec::new();
        for _ in 0..2 {
            let outcome = thread.run(begin("in")).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(stopped_at(&outcome), pair("two", ""));
            stopped_checkpoints.push(thread.state().await.unwrap().unwrap().id);
            thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
            thread.resume(()).context(Arc::clone(&probe)).await.unwrap();
        }
        let again = store
            .thread(&with_breakpoints())
            .at(stopped_checkpoints[0])
            .run_again()
            .context(Arc::clone(&probe));
        let outcome = again.await.unwrap();
        assert_eq!(stopped_at(&outcome), pair("two", ""));
        assert_eq!(log_of(outcome.state()), "in one");
        let outcome = store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(log_of(outcome.state()), "in one two");
    })
    .await;
}

/// Runs superstep by superstep until `node` is next, and drops the run there. The superstep is durable, but nothing
/// records that the run has reached its breakpoint.
async fn killed_before(thread: &Thread<Story, Probe>, node: &str, probe: &Arc<Probe>) {
    let run = thread.run(begin("in")).durability(Durability::Sync).context(Arc::clone(probe));
    let mut run = run.start().await.unwrap().unwrap();
    while run.next() != [node] {
        run.step().await.unwrap();
    }
}

#[tokio::test]
async fn killed_run_stops_at_its_breakpoint_on_resume() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        for (node, expected) in [("two", pair("two", "")), ("three", pair("", "two"))] {
            let thread = store.thread(&with_breakpoints());
            killed_before(&thread, node, &probe).await;
            assert_eq!(
                pending(&store.thread(&with_breakpoints())).await,
                pair("", ""),
                "the pause is not stored"
            );
            assert_eq!(next(&thread.state().await.unwrap().unwrap()), node);
            probe.ran();

            let outcome =
                store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert_eq!(stopped_at(&outcome), expected);
            assert_eq!(probe.ran(), "");
            assert_eq!(pending(&store.thread(&with_breakpoints())).await, expected);

            let outcome =
                store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
            assert!(probe.ran().starts_with(node), "it continues past the breakpoint");
            let left = outcome.pause().map(|pause| pause.after().join(" "));
            assert_eq!(left.as_deref(), (node == "two").then_some("two"));
            thread.delete().await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn interrupt_after_stops_only_if_its_node_ran() {
    on_every_store(async |store| {
        let probe = Arc::new(Probe::default());
        let without_breakpoints = story().edge(START, one).edge(one, two).edge(two, three).edge(three, END);
        let without_breakpoints = without_breakpoints.compile().unwrap();
        // A run without breakpoints is dropped after the node. A graph with breakpoints resumes it.
        killed_before(&store.thread(&without_breakpoints), "three", &probe).await;
        let outcome = store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert!(outcome.pause().is_none(), "the dropped run had no breakpoint");
        // An update as a node does not run that node.
        let thread = store.thread(&with_breakpoints());
        thread.update(say("by hand"), as_node(two)).context(Arc::clone(&probe)).await.unwrap();
        let outcome = store.thread(&with_breakpoints()).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert!(outcome.pause().is_none());
        // A breakpoint that a dropped run had reached does not stop a graph without it.
        killed_before(&store.thread(&with_breakpoints()), "two", &probe).await;
        store.thread(&without_breakpoints).resume(()).context(Arc::clone(&probe)).await.unwrap();
        assert_eq!(next(&thread.state().await.unwrap().unwrap()), "");
    })
    .await;
}
