//! Failing nodes: the superstep fails, finished tasks keep their results, and the run can continue.

use std::sync::Arc;
use std::time::Duration;

use superstep::NodeFailure;
use superstep::run::Stepper;
use superstep::{ContextWith, END, Error, ErrorKind, FailureMode, NodeError, START, StateGraph};
use tokio::sync::watch;

use crate::engine::trace::{Journal, Trace, TraceUpdate, block_on, ran, say, workers};

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct DiskFull;

#[derive(Debug, thiserror::Error)]
#[error("the file cannot be written")]
struct NotWritten(#[source] DiskFull);

/// The progress of the nodes.
#[derive(Default)]
struct Scene {
    journal: Journal,
    /// `true` once the quick node has finished.
    quick: watch::Sender<bool>,
    /// `true` once the slow node has started.
    slow: watch::Sender<bool>,
}

async fn quick(_: &Trace, cx: &ContextWith<Scene>) -> TraceUpdate {
    cx.context().journal.note("quick");
    cx.context().quick.send_replace(true);
    ran(cx)
}

/// Fails in its first attempt, after the quick node has finished.
async fn fails(_: &Trace, cx: &ContextWith<Scene>) -> Result<TraceUpdate, NodeError> {
    cx.context().journal.note("fails");
    cx.context().quick.subscribe().wait_for(|&quick| quick).await?;
    tokio::task::yield_now().await;
    if cx.attempt() == 1 {
        return Err(NotWritten(DiskFull).into());
    }
    Ok(ran(cx))
}

async fn fails_beside_slow(state: &Trace, cx: &ContextWith<Scene>) -> Result<TraceUpdate, NodeError> {
    cx.context().slow.subscribe().wait_for(|&slow| slow).await?;
    fails(state, cx).await
}

async fn panics(_: &Trace, cx: &ContextWith<Scene>) -> TraceUpdate {
    cx.context().journal.note("panics");
    tokio::task::yield_now().await;
    assert!(cx.attempt() > 1, "lost {} marbles", 3);
    ran(cx)
}

/// Records that the slow node was dropped.
struct Stopped<'a>(&'a Journal);

impl Drop for Stopped<'_> {
    fn drop(&mut self) {
        self.0.note("slow stopped");
    }
}

async fn slow(_: &Trace, cx: &ContextWith<Scene>) -> TraceUpdate {
    let stopped = Stopped(&cx.context().journal);
    cx.context().slow.send_replace(true);
    if cx.attempt() == 1 {
        std::future::pending::<()>().await;
    }
    std::mem::forget(stopped);
    cx.context().journal.note("slow");
    ran(cx)
}

fn failures(error: &Error) -> Vec<&NodeFailure> {
    let ErrorKind::Node { first, others, .. } = error.kind() else { panic!("{error}") };
    std::iter::once(&**first).chain(others).collect()
}

fn scene() -> Arc<Scene> {
    Arc::default()
}

async fn finish(run: &mut Stepper<Trace, Scene>) -> String {
    while run.step().await.unwrap() {}
    run.state().log.join(" ")
}

#[test]
fn failure_stops_siblings_and_keeps_finished_tasks() {
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .edge(START, (quick, fails_beside_slow, slow))
        .edge(quick, END)
        .edge(fails_beside_slow, END)
        .edge(slow, END)
        .compile()
        .unwrap();
    let check = async |scene: Arc<Scene>| {
        let mut run = graph.run(Trace::input()).context(Arc::clone(&scene)).start().unwrap();
        let error = run.step().await.unwrap_err();
        let mut notes = scene.journal.take();
        notes.sort();
        assert_eq!(notes, ["fails", "quick", "slow stopped"], "stopped before the step returns");
        assert_eq!(failures(&error).len(), 1);
        assert!(error.state::<Trace>().unwrap().log.is_empty(), "no write of the superstep is applied");
        assert_eq!(finish(&mut run).await, "1:quick 1:fails_beside_slow 1:slow");
        let mut notes = scene.journal.take();
        notes.sort();
        assert_eq!(notes, ["fails", "slow"], "`quick` does not run again");
    };
    block_on(check(scene()));
    workers(2).block_on(check(scene()));
}

#[test]
fn error_names_graph_node_superstep_and_attempt() {
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .name("tickets")
        .edge(START, quick)
        .edge(quick, fails)
        .edge(fails, END)
        .compile()
        .unwrap();
    let error = block_on(graph.run(Trace::input()).context(scene())).unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "graph `tickets`: node `fails` failed in superstep 2, attempt 1\n  \
         caused by: the file cannot be written\n  caused by: the disk is full"
    );
    let failure = failures(&error)[0];
    assert_eq!(
        (failure.node.as_str(), failure.step, failure.attempt, failure.panicked),
        ("fails", 2, 1, false)
    );
    assert!(failure.error.downcast_ref::<NotWritten>().is_some());
    let source = std::error::Error::source(&error).unwrap();
    assert!(source.downcast_ref::<NotWritten>().is_some());
    assert!(source.source().unwrap().downcast_ref::<DiskFull>().is_some());
    assert_eq!(error.state::<Trace>().unwrap().log, ["1:quick"]);
    assert!(error.state::<String>().is_none(), "not the type of the state");
}

#[test]
fn collect_mode_reports_every_failure() {
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .edge(START, (panics, quick, fails))
        .edge(quick, END)
        .edge(fails, END)
        .edge(panics, END)
        .compile()
        .unwrap();
    let check = async |scene: Arc<Scene>| {
        let run = graph.run(Trace::input()).context(Arc::clone(&scene));
        let mut run = run.on_failure(FailureMode::Collect).start().unwrap();
        let error = run.step().await.unwrap_err();
        let named: Vec<_> = failures(&error).iter().map(|failure| failure.node.as_str()).collect();
        assert_eq!(named, ["panics", "fails"], "in task order");
        assert_eq!(
            error.to_string(),
            "graph `Trace`: node `panics` panicked in superstep 1, attempt 1; `fails` failed too"
        );
        scene.journal.take();
        assert_eq!(finish(&mut run).await, "1:panics 1:quick 1:fails");
        let mut notes = scene.journal.take();
        notes.sort();
        assert_eq!(notes, ["fails", "panics"]);
    };
    block_on(check(scene()));
    workers(2).block_on(check(scene()));
}

#[test]
fn panic_becomes_the_error_of_the_node() {
    async fn at_once(state: &Trace) -> TraceUpdate {
        say(&state.log[7])
    }
    for (alone, others) in [(true, false), (false, true)] {
        let graph = StateGraph::<Trace>::with_context::<Scene>();
        let graph = if alone {
            graph.edge(START, at_once)
        } else {
            graph.edge(START, (at_once, quick)).edge(quick, END)
        };
        let graph = graph.edge(at_once, END).compile().unwrap();
        let check = async || {
            let error = graph.run(Trace::input()).context(scene()).await.unwrap_err();
            let failure = failures(&error)[0];
            assert!(failure.panicked && failure.node == "at_once", "{others}");
            assert!(failure.error.to_string().contains("index out of bounds"), "{}", failure.error);
        };
        block_on(check());
        workers(2).block_on(check());
    }
}

#[test]
fn panic_while_a_node_is_dropped_is_ignored() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }
    async fn armed(_: &Trace, cx: &ContextWith<Scene>) -> TraceUpdate {
        if cx.attempt() == 1 {
            let _bomb = Bomb;
            std::future::pending::<()>().await;
        }
        ran(cx)
    }
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .edge(START, (armed, quick, fails))
        .edge(armed, END)
        .edge(quick, END)
        .edge(fails, END)
        .compile()
        .unwrap();
    let check = async || {
        let mut run = graph.run(Trace::input()).context(scene()).start().unwrap();
        let error = run.step().await.unwrap_err();
        assert_eq!(failures(&error)[0].node, "fails");
        assert_eq!(finish(&mut run).await, "1:armed 1:quick 1:fails");
    };
    block_on(check());
    workers(2).block_on(check());
}

#[test]
fn timed_out_superstep_keeps_finished_tasks() {
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .name("late")
        .edge(START, (quick, slow))
        .edge(quick, END)
        .edge(slow, END)
        .compile()
        .unwrap();
    let check = async |scene: Arc<Scene>, limit: Duration| {
        let run = graph.run(Trace::input()).context(Arc::clone(&scene)).superstep_timeout(limit);
        let mut run = run.start().unwrap();
        let error = run.step().await.unwrap_err();
        let ErrorKind::SuperstepTimeout { step: 1, unfinished, .. } = error.kind() else { panic!("{error}") };
        assert_eq!(unfinished, &["slow"]);
        assert_eq!(
            error.to_string(),
            format!(
                "graph `late`: superstep 1 exceeded its timeout of {limit:?} before `slow` finished: raise `superstep_timeout(..)` if that is too short"
            )
        );
        let mut notes = scene.journal.take();
        // On another thread the task may be dropped a little later.
        while notes.len() < 2 {
            tokio::task::yield_now().await;
            notes.extend(scene.journal.take());
        }
        assert_eq!(notes, ["quick", "slow stopped"]);
        assert_eq!(finish(&mut run).await, "1:quick 1:slow");
        assert_eq!(scene.journal.take(), ["slow"]);
    };
    block_on(check(scene(), Duration::from_secs(3600)));
    // This runtime uses the real clock.
    let runtime = workers(2);
    runtime.block_on(check(scene(), Duration::from_millis(20)));
}

#[test]
fn superstep_timeout_applies_to_each_superstep() {
    async fn naps(_: &Trace, cx: &ContextWith<Scene>) -> TraceUpdate {
        tokio::time::sleep(Duration::from_secs(50)).await;
        ran(cx)
    }
    let graph =
        StateGraph::<Trace>::with_context::<Scene>().edge(START, naps).edge(naps, quick).edge(quick, naps);
    let graph = graph.compile().unwrap();
    let run = graph.run(Trace::input()).context(scene()).superstep_timeout(Duration::from_secs(60));
    let error = block_on(run.recursion_limit(5)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::RecursionLimit { .. }),
        "each superstep has its own time: {error}"
    );
}

#[test]
fn superstep_timeout_without_a_timer_is_an_error() {
    let graph =
        StateGraph::<Trace>::with_context::<Scene>().edge(START, quick).edge(quick, END).compile().unwrap();
    let run = || graph.run(Trace::input()).context(scene()).superstep_timeout(Duration::from_secs(1));
    let timerless = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for error in [
        timerless.block_on(run()).unwrap_err(),
        crate::engine::concurrency::block_on_without_runtime(run()).unwrap_err(),
    ] {
        assert!(matches!(error.kind(), ErrorKind::Runtime(_)));
        assert!(error.to_string().contains("enable_time"), "{error}");
    }
}

#[test]
fn failure_is_reported_although_superstep_times_out() {
    async fn blocks(_: &Trace, cx: &ContextWith<Blocked>) -> TraceUpdate {
        cx.context().running.wait();
        let _ = cx.context().gate.lock().unwrap().recv();
        ran(cx)
    }
    async fn breaks(_: &Trace, cx: &ContextWith<Blocked>) -> Result<TraceUpdate, NodeError> {
        cx.context().running.wait();
        Err(NodeError::msg("broken"))
    }
    struct Blocked {
        running: std::sync::Barrier,
        gate: std::sync::Mutex<std::sync::mpsc::Receiver<()>>,
    }
    let graph = StateGraph::<Trace>::with_context::<Blocked>()
        .edge(START, (blocks, breaks))
        .edge(blocks, END)
        .edge(breaks, END)
        .compile()
        .unwrap();
    let (opens, gate) = std::sync::mpsc::channel();
    let blocked = Blocked { running: std::sync::Barrier::new(2), gate: gate.into() };
    let run = graph.run(Trace::input()).context(blocked).superstep_timeout(Duration::from_millis(500));
    // Two workers are blocked; the third drives the timer.
    let error = workers(3).block_on(async {
        let error = run.await.unwrap_err();
        drop(opens);
        error
    });
    assert_eq!(failures(&error)[0].node, "breaks", "{error}");
}

#[test]
fn collect_mode_reports_failures_of_a_late_superstep() {
    async fn breaks(_: &Trace, _: &ContextWith<Scene>) -> Result<TraceUpdate, NodeError> {
        Err(NodeError::msg("broken"))
    }
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .edge(START, (slow, breaks))
        .edge(slow, END)
        .edge(breaks, END)
        .compile()
        .unwrap();
    let run = graph.run(Trace::input()).context(scene()).on_failure(FailureMode::Collect);
    let error = block_on(run.superstep_timeout(Duration::from_secs(60))).unwrap_err();
    let failures: Vec<_> = failures(&error).into_iter().map(|failure| failure.node.clone()).collect();
    assert_eq!(failures, ["breaks"], "{error}");
}

#[test]
fn task_stopped_before_start_counts_no_attempt() {
    async fn breaks(_: &Trace, cx: &ContextWith<Scene>) -> Result<TraceUpdate, NodeError> {
        if cx.attempt() < 5 { Err(NodeError::msg("broken")) } else { Ok(TraceUpdate::default()) }
    }
    async fn begins(_: &Trace, cx: &ContextWith<Scene>) -> TraceUpdate {
        cx.context().journal.note(format!("attempt {}", cx.attempt()));
        TraceUpdate::default()
    }
    let graph = StateGraph::<Trace>::with_context::<Scene>()
        .edge(START, (breaks, begins))
        .edge(breaks, END)
        .edge(begins, END)
        .compile()
        .unwrap();
    let check = async || {
        let scene = scene();
        let mut run = graph.run(Trace::input()).context(Arc::clone(&scene)).start().unwrap();
        while run.step().await.is_err() {}
        assert_eq!(scene.journal.take(), ["attempt 1"]);
    };
    block_on(check());
    // With one worker, one of the two tasks is usually stopped before its first poll.
    let runtime = workers(1);
    for _ in 0..100 {
        runtime.block_on(check());
    }
}
