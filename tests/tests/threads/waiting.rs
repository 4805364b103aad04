//! Runs that wait for their thread: each runs in turn, and each input is applied once.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use superstep::reducers::{ReduceError, Reducer, Stamp};
use superstep::thread::{OnConflict, Thread};
use superstep::{
    ContextWith, Durability, END, ErrorKind, EventKind, Graph, GraphState, NodeError, START, StateGraph,
};
use tokio::sync::Notify;

use super::stores::{TestStore, on_every_store};

/// Lines marked with their superstep.
struct Marks;

impl Reducer<Vec<String>> for Marks {
    type Update = String;
    type Delta = String;

    fn prepare(line: String, stamp: &Stamp<'_>) -> Result<String, ReduceError> {
        Ok(format!("{line} at {}", stamp.step))
    }

    fn fold(lines: &mut Vec<String>, line: String) -> Result<(), ReduceError> {
        lines.push(line);
        Ok(())
    }
}

#[derive(GraphState, Clone, Debug)]
struct Board {
    #[state(input)]
    line: String,
    #[state(input, reducer = Marks)]
    marks: Vec<String>,
    #[state(reducer = append)]
    lines: Vec<String>,
}

/// Blocks a run in its first node if `shut`.
#[derive(Default)]
struct Door {
    shut: bool,
    reached: Notify,
    opens: Notify,
}

async fn enter(board: &Board, cx: &ContextWith<Door>) -> Result<(), NodeError> {
    let door = cx.context();
    if door.shut {
        door.reached.notify_one();
        door.opens.notified().await;
    }
    if board.line == "broken" { Err(NodeError::msg("it is broken")) } else { Ok(()) }
}

async fn write(board: &Board) -> BoardUpdate {
    tokio::time::sleep(Duration::from_millis(1)).await;
    Board::update().lines([board.line.clone()])
}

fn graph() -> Graph<Board, Door> {
    StateGraph::<Board>::with_context::<Door>()
        .edge(START, enter)
        .edge(enter, write)
        .edge(write, END)
        .compile()
        .unwrap()
}

const LONG: OnConflict = OnConflict::Wait(Duration::from_secs(300));

fn line(line: &str) -> BoardInput {
    Board::input(line).marks(line.to_owned())
}

async fn assert_all_run_in_turn(store: &TestStore, durability: Durability) {
    const RUNS: usize = 12;
    let runs: Vec<_> = (0..RUNS)
        .map(|number| {
            let line = line(&number.to_string());
            let run = store.thread(&graph()).run(line).on_conflict(LONG).durability(durability);
            tokio::spawn(run.context(Door::default()))
        })
        .collect();
    for (number, run) in runs.into_iter().enumerate() {
        let state = run.await.unwrap().unwrap().into_state();
        assert_eq!(state.lines.last(), Some(&number.to_string()), "{durability:?}");
    }
    let history = store.thread(&graph()).history().await.unwrap();
    assert!(history[0].is_finished());
    for pair in history.windows(2) {
        assert_eq!(pair[0].parent, Some(pair[1].id), "{durability:?}");
    }
    let state = history[0].state.as_ref().unwrap();
    let distinct: HashSet<&String> = state.lines.iter().collect();
    assert_eq!((state.lines.len(), distinct.len()), (RUNS, RUNS), "{durability:?}: {:?}", state.lines);
    // Each input was prepared for the superstep in which it was applied.
    let at = |(turn, line)| format!("{line} at {}", turn * 4);
    let marks: Vec<String> = state.lines.iter().enumerate().map(at).collect();
    assert_eq!(state.marks, marks, "{durability:?}");
}

/// With all durabilities at once: the runs mostly wait.
async fn all_run_in_turn_on_every_store() {
    let [sync, behind, exit] = [Durability::Sync, Durability::Async, Durability::Exit]
        .map(|durability| on_every_store(async move |store| assert_all_run_in_turn(store, durability).await));
    tokio::join!(sync, behind, exit);
}

#[tokio::test]
async fn twelve_waiting_runs_all_run() {
    all_run_in_turn_on_every_store().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twelve_waiting_runs_all_run_on_several_threads() {
    all_run_in_turn_on_every_store().await;
}

/// Starts a run that blocks in its first node.
async fn blocked(
    thread: &Thread<Board, Door>,
    durability: Durability,
) -> (Arc<Door>, tokio::task::JoinHandle<Result<superstep::Outcome<Board>, superstep::Error>>) {
    let door = Arc::new(Door { shut: true, ..Door::default() });
    let run = thread.run(line("held")).on_conflict(LONG).durability(durability);
    let run = tokio::spawn(run.context(Arc::clone(&door)));
    door.reached.notified().await;
    (door, run)
}

#[tokio::test]
async fn active_run_blocks_others_with_any_durability() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let thread = store.thread(&graph());
            let (door, blocked) = blocked(&thread, durability).await;
            let refused = thread.run(line("refused")).context(Door::default()).await.unwrap_err();
            assert!(matches!(refused.kind(), ErrorKind::PendingTasks { .. }), "{durability:?}: {refused:?}");
            let waits = thread.run(line("waits")).on_conflict(LONG).durability(durability);
            let waits = tokio::spawn(waits.context(Door::default()));
            // The run waits by then, or soon will.
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(!waits.is_finished(), "{durability:?}");
            door.opens.notify_one();
            assert_eq!(blocked.await.unwrap().unwrap().into_state().lines, ["held"]);
            assert_eq!(waits.await.unwrap().unwrap().into_state().lines, ["held", "waits"]);
        })
        .await;
    }
}

#[tokio::test]
async fn wait_ends_at_its_limit() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        let (door, blocked) = blocked(&thread, Durability::Async).await;
        for limit in [0, 40] {
            let limit = Duration::from_millis(limit);
            let began = Instant::now();
            let run = thread.run(line("late")).on_conflict(OnConflict::Wait(limit));
            let error = run.context(Door::default()).await.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::PendingTasks { .. }), "{error:?}");
            assert!(began.elapsed() >= limit);
        }
        // `Duration::MAX` is a valid limit.
        let patient = thread.run(line("patient")).on_conflict(OnConflict::Wait(Duration::MAX));
        let patient = tokio::spawn(patient.context(Door::default()));
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!patient.is_finished());
        door.opens.notify_one();
        blocked.await.unwrap().unwrap();
        assert_eq!(patient.await.unwrap().unwrap().into_state().lines, ["held", "patient"]);
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn wait_uses_the_clock_of_its_runtime() {
    let thread = TestStore::memory().thread(&graph());
    let (_door, blocked) = blocked(&thread, Durability::Async).await;
    let began = tokio::time::Instant::now();
    let limit = Duration::from_millis(90_001);
    let run = thread.run(line("late")).on_conflict(OnConflict::Wait(limit));
    run.context(Door::default()).await.unwrap_err();
    assert_eq!(began.elapsed(), limit);
    blocked.abort();
}

#[test]
fn wait_without_a_timer_is_an_error() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let thread = TestStore::memory().thread(&graph());
        thread.run(line("broken")).context(Door::default()).await.unwrap_err();
        let run = thread.run(line("late")).on_conflict(LONG).context(Door::default());
        let error = run.await.unwrap_err();
        let ErrorKind::Runtime(what) = error.kind() else { panic!("{error:?}") };
        assert!(what.contains("enable_time"), "{what}");
    });
}

#[tokio::test]
async fn waiting_runs_that_abandon_pending_all_start() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(line("broken")).context(Door::default()).await.unwrap_err();
        let shut: Vec<_> = (0..6).map(|_| Arc::new(Door { shut: true, ..Door::default() })).collect();
        let runs: Vec<_> = shut
            .iter()
            .map(|door| {
                let run = store.thread(&graph()).run(line("new")).abandon_pending().on_conflict(LONG);
                tokio::spawn(run.durability(Durability::Sync).context(Arc::clone(door)))
            })
            .collect();
        for door in &shut {
            door.reached.notified().await;
        }
        shut.iter().for_each(|door| door.opens.notify_one());
        let mut ended = Vec::new();
        for run in runs {
            ended.push(run.await.unwrap());
        }
        // Each run abandons the previous one, and the last one finishes.
        let done: Vec<_> = ended.iter().filter_map(|run| run.as_ref().ok()).collect();
        assert_eq!(done.len(), 1);
        assert_eq!(done[0].state().lines, ["new"]);
        for error in ended.iter().filter_map(|run| run.as_ref().err()) {
            assert!(matches!(error.kind(), ErrorKind::Conflict(_)), "{error:?}");
        }
        assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().lines, ["new"]);
    })
    .await;
}

#[tokio::test]
async fn waiting_runs_with_one_id_apply_one_input() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        on_every_store(async |store| {
            let runs: Vec<_> = (0..8)
                .map(|number| {
                    let run = store.thread(&graph()).run(line(&number.to_string())).run_id("r");
                    let run = run.on_conflict(LONG).durability(durability);
                    tokio::spawn(run.context(Door::default()))
                })
                .collect();
            let mut ended = Vec::new();
            for run in runs {
                ended.push(run.await.unwrap().unwrap().into_state().lines);
            }
            assert_eq!(ended[0].len(), 1);
            assert!(ended.iter().all(|lines| *lines == ended[0]), "{ended:?}");
        })
        .await;
    }
}

/// Starts a run with the id `r`, and drops it in its first node.
async fn dropped(thread: &Thread<Board, Door>) {
    let door = Arc::new(Door { shut: true, ..Door::default() });
    let run = thread.run(line("dropped")).run_id("r").context(Arc::clone(&door));
    tokio::select! {
        ended = run => panic!("{ended:?}"),
        () = door.reached.notified() => {}
    }
}

#[tokio::test(start_paused = true)]
async fn dropped_run_id_restarts_without_waiting() {
    let thread = TestStore::memory().thread(&graph());
    dropped(&thread).await;
    dropped(&thread).await;
    let began = tokio::time::Instant::now();
    let again = thread.run(line("dropped")).run_id("r").on_conflict(LONG).context(Door::default());
    assert_eq!(again.await.unwrap().into_state().lines, ["dropped"]);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn run_id_at_its_recursion_limit_restarts_without_waiting() {
    let thread = TestStore::memory().thread(&graph());
    let first = thread.run(line("short")).run_id("r").recursion_limit(1).context(Door::default());
    first.await.unwrap_err();
    let began = tokio::time::Instant::now();
    let again = thread.run(line("short")).run_id("r").on_conflict(LONG).context(Door::default());
    assert_eq!(again.await.unwrap().into_state().lines, ["short"]);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn dropped_run_id_waits_while_another_process_runs_it() {
    let store = TestStore::memory();
    let thread = store.thread(&graph());
    dropped(&thread).await;
    // A new handle stands for another process.
    let door = Arc::new(Door { shut: true, ..Door::default() });
    let other = store.thread(&graph()).run(line("dropped")).run_id("r").context(Arc::clone(&door));
    let other = tokio::spawn(other);
    door.reached.notified().await;
    let again = thread.run(line("dropped")).run_id("r").on_conflict(LONG).context(Door::default());
    let again = tokio::spawn(again);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(!again.is_finished() && !other.is_finished());
    door.opens.notify_one();
    assert_eq!(other.await.unwrap().unwrap().into_state().lines, ["dropped"]);
    assert_eq!(again.await.unwrap().unwrap().into_state().lines, ["dropped"]);
}

#[tokio::test]
async fn runs_at_an_old_checkpoint_wait_for_the_thread() {
    on_every_store(async |store| {
        let thread = store.thread(&graph());
        thread.run(line("first")).context(Door::default()).await.unwrap();
        let old = thread.state().await.unwrap().unwrap().id;
        thread.run(line("second")).context(Door::default()).await.unwrap();
        let runs: Vec<_> = (0..6)
            .map(|number| {
                let run = store.thread(&graph()).at(old).run(line(&number.to_string())).on_conflict(LONG);
                tokio::spawn(run.context(Door::default()))
            })
            .collect();
        for (number, run) in runs.into_iter().enumerate() {
            assert_eq!(run.await.unwrap().unwrap().into_state().lines, ["first", &number.to_string()]);
        }
        let planned = thread.history().await.unwrap().into_iter().find(|at| at.step == 1).unwrap().id;
        let runs: Vec<_> = (0..6)
            .map(|_| {
                let run = store.thread(&graph()).at(planned).run_again().on_conflict(LONG);
                tokio::spawn(run.context(Door::default()))
            })
            .collect();
        for run in runs {
            assert_eq!(run.await.unwrap().unwrap().into_state().lines, ["first"]);
        }
    })
    .await;
}

#[tokio::test]
async fn stream_of_a_waiting_run_reports_its_start_once() {
    on_every_store(async |store| {
        let runs: Vec<_> = (0..6)
            .map(|number| {
                let run = store.thread(&graph()).run(line(&number.to_string())).on_conflict(LONG);
                let stream = run.context(Door::default()).stream();
                tokio::spawn(async move {
                    let (mut values, mut checkpoints) = (Vec::new(), Vec::new());
                    let outcome = stream.for_each(|event| match event.kind {
                        EventKind::Values(_) => values.push(event.superstep),
                        EventKind::Checkpoint { id, .. } => checkpoints.push(id),
                        _ => {}
                    });
                    outcome.await.unwrap();
                    (values, checkpoints)
                })
            })
            .collect();
        let mut reported = Vec::new();
        for run in runs {
            let (values, checkpoints) = run.await.unwrap();
            let first = values[0];
            assert_eq!(values, [first, first + 1, first + 2]);
            reported.extend(checkpoints);
        }
        let history = store.thread(&graph()).history().await.unwrap();
        let stored: HashSet<_> = history.iter().map(|at| at.id).collect();
        let distinct: HashSet<_> = reported.iter().copied().collect();
        assert!(distinct.is_subset(&stored));
        assert_eq!(distinct.len(), reported.len());
    })
    .await;
}
