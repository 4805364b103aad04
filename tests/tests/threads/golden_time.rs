//! Golden files with sleeping and stopped threads.
//!
//! See [`golden`](super::golden).
//!
//! ```text
//! WRITE_GOLDEN=tests/golden/time-2.db cargo test -p tests --test threads golden_time
//! ```

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::run::Stop;
use superstep::thread::{PersistentGraph, ThreadStatus};
use superstep::{Context, END, GraphState, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

use super::golden::{files, write_if_requested};

#[derive(GraphState, Clone, Debug)]
struct Trial {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

/// 2100-01-01.
fn far() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(4_102_444_800)
}

fn log(text: &str) -> TrialUpdate {
    Trial::update().log([text.to_owned()])
}

/// Sleeps until a time that only the first run has: the stored time counts.
async fn asleep(_: &Trial, cx: &Context) -> TrialUpdate {
    cx.sleep_until(if cx.metadata().contains_key("first") { far() } else { SystemTime::now() }).await;
    log("awake")
}

async fn ask(_: &Trial, cx: &Context) -> TrialUpdate {
    tokio::select! {
        _ = cx.interrupt(Approve) => log("answered"),
        () = cx.sleep(Duration::from_millis(1)).keyed("patience") => log("nobody answered"),
    }
}

async fn last(_: &Trial) -> TrialUpdate {
    log("last")
}

fn graph(file: &Path, sleeps: bool) -> PersistentGraph<Trial> {
    let graph = StateGraph::<Trial>::new().name("trial");
    let graph = if sleeps {
        graph.edge(START, asleep).edge(asleep, last)
    } else {
        graph.edge(START, ask).edge(ask, last)
    };
    graph.edge(last, END).compile().unwrap().with_checkpointer(SqliteCheckpointer::open(file).unwrap())
}

/// Writes the contents of a golden file: a sleeping thread, an interrupt with a deadline, a drained thread and a
/// cancelled one.
async fn write(file: &Path) {
    let run = graph(file, true).thread("asleep").run(Trial::input()).metadata("first", true);
    assert!(run.suspend_sleeps_longer_than(Duration::ZERO).await.unwrap().pause().is_some());
    assert!(graph(file, false).thread("asks").run(Trial::input()).await.unwrap().pause().is_some());
    let stop = Stop::new();
    stop.drain();
    assert!(
        graph(file, false)
            .thread("drained")
            .run(Trial::input())
            .stop_by(&stop)
            .await
            .unwrap()
            .pause()
            .is_some()
    );
    let stop = Stop::new();
    let run = graph(file, false).thread("cancelled").run(Trial::input()).stop_by(&stop);
    let mut run = run.start().await.unwrap().unwrap();
    stop.cancel();
    run.step().await.unwrap_err();
}

async fn check(file: &Path) {
    let all = graph(file, false).unfinished().await.unwrap();
    let seen: Vec<_> = all.iter().map(|left| left.thread.name()).collect();
    assert_eq!(seen, ["asks", "asleep", "cancelled", "drained"]);
    // This graph has no node `asleep`.
    assert!(matches!(all[1].status, ThreadStatus::Unreadable(_)) && all[1].next == ["asleep".into()]);
    let asleep = graph(file, true).unfinished().prefix("asleep").await.unwrap();
    assert!(matches!(asleep[0].status, ThreadStatus::WaitingForTime));
    assert_eq!(asleep[0].wakes_at, Some(far()));
    assert!(
        matches!(all[0].status, ThreadStatus::WaitingForAnswer(_))
            && all[0].wakes_at.unwrap() < SystemTime::now()
    );
    assert!(matches!(all[2].status, ThreadStatus::Stopped) && matches!(all[3].status, ThreadStatus::Stopped));
    for (sleeps, name) in [(false, "asks"), (true, "asleep")] {
        let due = graph(file, sleeps).due(far()).prefix("as").await.unwrap();
        let readable = due.iter().filter(|left| !matches!(left.status, ThreadStatus::Unreadable(_)));
        assert_eq!(readable.map(|left| left.thread.name()).collect::<Vec<_>>(), [name]);
        let now = graph(file, sleeps).due(SystemTime::now()).prefix(name).await.unwrap();
        assert_eq!(now.len(), usize::from(!sleeps));
    }
    let asleep = graph(file, true).thread("asleep");
    let again = asleep.resume(()).suspend_sleeps_longer_than(Duration::ZERO).await.unwrap();
    assert_eq!(again.pause().unwrap().wakes_at(), Some(far()));
    let outcome = graph(file, false).thread("asks").resume(()).await.unwrap();
    assert_eq!(outcome.state().log, ["nobody answered", "last"]);
    for name in ["drained", "cancelled"] {
        let thread = graph(file, false).thread(name);
        assert!(thread.interrupts().await.unwrap().is_stopped());
        assert!(thread.resume(()).await.unwrap().pause().is_some_and(|pause| pause.interrupts().len() == 1));
        assert!(!thread.interrupts().await.unwrap().is_stopped());
    }
}

#[tokio::test]
async fn golden_files_with_sleeps_and_stops_are_continued() {
    write_if_requested("time", write).await;
    let files = files("time");
    assert!(!files.is_empty());
    for (_folder, copy) in files {
        check(&copy).await;
    }
}

/// The current format passes the same checks.
#[tokio::test]
async fn new_file_is_read_like_a_golden_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    write(&file).await;
    // The deadline is one millisecond of real time.
    while graph(&file, false).due(SystemTime::now()).await.unwrap().is_empty() {}
    check(&file).await;
}
