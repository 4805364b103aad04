use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use superstep::checkpoint::{CheckpointSource, MemoryCheckpointer};
use superstep::thread::PersistentGraph;
use superstep::{
    ContextWith, Durability, END, ErrorKind, EventKind, GraphState, NodeError, Outcome, START, StateGraph,
};

#[derive(GraphState, Clone, Debug)]
struct Foo {
    #[state(input)]
    foo: String,
    #[state(input, reducer = append)]
    bar: Vec<String>,
}

async fn node_a(_: &Foo) -> FooUpdate {
    Foo::update().foo("a").bar(["a".to_owned()])
}

async fn node_b(_: &Foo) -> FooUpdate {
    Foo::update().foo("b").bar(["b".to_owned()])
}

fn two_nodes() -> PersistentGraph<Foo> {
    let graph = StateGraph::<Foo>::new().edge(START, node_a).edge(node_a, node_b).edge(node_b, END);
    graph.compile().unwrap().with_checkpointer(MemoryCheckpointer::default())
}

#[tokio::test]
async fn two_nodes_write_four_checkpoints() {
    for durability in [Durability::Sync, Durability::Async] {
        let thread = two_nodes().thread("1");
        let outcome = thread.run(Foo::input("")).durability(durability).await.unwrap();
        assert_eq!(outcome.into_state().bar, ["a", "b"]);
        let history = thread.history().await.unwrap();
        let seen = history.iter().rev().map(|snapshot| {
            let next: Vec<&str> = snapshot.next.iter().map(|next| &**next).collect();
            let state = snapshot.state.as_ref().map(|state| (state.foo.as_str(), state.bar.len()));
            (snapshot.step, snapshot.source, next, state)
        });
        assert_eq!(
            seen.collect::<Vec<_>>(),
            [
                (-1, CheckpointSource::Input, vec!["START"], None),
                (0, CheckpointSource::Loop, vec!["node_a"], Some(("", 0))),
                (1, CheckpointSource::Loop, vec!["node_b"], Some(("a", 1))),
                (2, CheckpointSource::Loop, vec![], Some(("b", 2))),
            ]
        );
        for pair in history.windows(2) {
            assert_eq!(pair[0].parent, Some(pair[1].id));
            assert_eq!(pair[0].run_id, pair[1].run_id);
        }
    }
}

#[tokio::test]
async fn thread_and_run_names_accept_any_string_type() {
    let graph = two_nodes();
    let (name, id) = ("ann".to_owned(), "run-1".to_owned());
    graph.thread(&name).run(Foo::input("")).run_id(&id).await.unwrap();
    assert_eq!(graph.thread(&name).history().run_id(&id).await.unwrap().len(), 4);
    let copied = graph.thread(&name).copy(format!("{name}-2")).await.unwrap();
    assert_eq!(copied.state().await.unwrap().unwrap().state.unwrap().bar, ["a", "b"]);
    assert_eq!(graph.thread(name).state().await.unwrap().unwrap().run_id.as_ref(), id);
}

#[tokio::test]
async fn durability_exit_stores_only_the_end() {
    let thread = two_nodes().thread("1");
    thread.run(Foo::input("")).durability(Durability::Exit).await.unwrap();
    let history = thread.history().await.unwrap();
    assert_eq!(history.len(), 1);
    assert_eq!(history[0].step, 2);
    assert_eq!(history[0].state.as_ref().unwrap().bar, ["a", "b"]);
    thread.run(Foo::input("again")).await.unwrap();
    let steps: Vec<i64> = thread.history().await.unwrap().iter().map(|snapshot| snapshot.step).collect();
    assert_eq!(steps, [6, 5, 4, 3, 2]);
}

#[tokio::test]
async fn second_run_starts_from_the_stored_state() {
    let thread = two_nodes().thread("1");
    thread.run(Foo::input("")).await.unwrap();
    let state = thread.run(Foo::input("x").bar(["new".to_owned()])).await.unwrap().into_state();
    assert_eq!(state.bar, ["a", "b", "new", "a", "b"]);
    let history = thread.history().await.unwrap();
    let steps: Vec<i64> = history.iter().map(|snapshot| snapshot.step).collect();
    assert_eq!(steps, [6, 5, 4, 3, 2, 1, 0, -1]);
    assert_eq!(history[3].source, CheckpointSource::Input);
    assert_eq!(history[3].state.as_ref().unwrap().bar, ["a", "b"], "the input is not applied yet");
}

#[derive(GraphState, Clone, Debug)]
struct Work {
    #[state(reducer = append)]
    done: Vec<String>,
}

/// The number of runs of each node, and of failures that `flaky` still has to make.
#[derive(Default)]
struct Counts {
    steady: AtomicUsize,
    flaky: AtomicUsize,
    failures: AtomicUsize,
}

async fn steady(_: &Work, cx: &ContextWith<Counts>) -> WorkUpdate {
    cx.context().steady.fetch_add(1, Ordering::SeqCst);
    Work::update().done(["steady".to_owned()])
}

async fn flaky(_: &Work, cx: &ContextWith<Counts>) -> superstep::Result<WorkUpdate> {
    tokio::task::yield_now().await;
    let counts = cx.context();
    counts.flaky.fetch_add(1, Ordering::SeqCst);
    if counts.failures.load(Ordering::SeqCst) > 0 {
        counts.failures.fetch_sub(1, Ordering::SeqCst);
        return Err(NodeError::msg("not today"));
    }
    Ok(Work::update().done([format!("flaky at attempt {}", cx.attempt())]))
}

async fn last(_: &Work) -> WorkUpdate {
    Work::update().done(["last".to_owned()])
}

#[tokio::test]
async fn after_a_failure_only_unfinished_tasks_run_again() {
    let graph = StateGraph::<Work>::with_context::<Counts>()
        .edge(START, (steady, flaky))
        .join((steady, flaky), last)
        .edge(last, END)
        .compile()
        .unwrap();
    let counts = Arc::new(Counts::default());
    counts.failures.store(2, Ordering::SeqCst);
    let store = MemoryCheckpointer::default();
    let thread = graph.with_checkpointer(store.clone()).thread("1");
    let error = thread.run(Work::input()).context(Arc::clone(&counts)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Node { .. }));

    let snapshot = thread.state().await.unwrap().unwrap();
    assert_eq!(snapshot.next.len(), 2);
    assert!(snapshot.tasks[0].result.is_some());
    let failed = snapshot.tasks[1].error.as_ref().unwrap();
    assert_eq!((failed.text.as_str(), failed.attempt), ("not today", 1));

    let refused = thread.run(Work::input()).context(Arc::clone(&counts)).await.unwrap_err();
    let ErrorKind::PendingTasks { pending, superstep, .. } = refused.kind() else { panic!("{refused}") };
    assert_eq!((pending.join(" "), superstep.finished.join(" ")), ("flaky".to_owned(), "steady".to_owned()));

    // A new handle stands for another process.
    let thread = graph.with_checkpointer(store).thread("1");
    thread.resume(()).context(Arc::clone(&counts)).await.unwrap_err();
    let state = thread.resume(()).context(Arc::clone(&counts)).await.unwrap().into_state();
    assert_eq!(state.done, ["steady", "flaky at attempt 3", "last"]);
    assert_eq!(counts.steady.load(Ordering::SeqCst), 1);
    assert_eq!(counts.flaky.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn known_run_id_does_not_run_again() {
    let thread = two_nodes().thread("1");
    for _ in 0..3 {
        let outcome = thread.run(Foo::input("").bar(["in".to_owned()])).run_id("r").await.unwrap();
        let Outcome::Done(state) = outcome else { panic!("{outcome:?}") };
        assert_eq!(state.bar, ["in", "a", "b"]);
    }
    assert_eq!(thread.history().run_id("r").await.unwrap().len(), 4);
    assert_eq!(thread.history().await.unwrap().len(), 4);
}

#[tokio::test]
async fn stream_reports_every_checkpoint() {
    for durability in [Durability::Sync, Durability::Async] {
        let thread = two_nodes().thread("1");
        let mut reported = Vec::new();
        for _ in 0..2 {
            let stream = thread.run(Foo::input("")).durability(durability).stream();
            let outcome = stream.for_each(|event| {
                if let EventKind::Checkpoint { id, step, .. } = event.kind {
                    reported.push((id, step));
                }
            });
            outcome.await.unwrap();
        }
        let history = thread.history().await.unwrap();
        let stored: Vec<_> = history.iter().rev().map(|snapshot| (snapshot.id, snapshot.step)).collect();
        assert_eq!(reported, stored);
    }
}
