//! Runs that wait for their thread: dropped after any number of polls, in several processes, and killed while they
//! wait.

use std::collections::HashSet;
use std::env;
use std::future::poll_fn;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::pin::Pin;
use std::process::{Child, Command, Stdio};
use std::task::Poll;
use std::time::Duration;

use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep::thread::{OnConflict, Thread};
use superstep::{Durability, END, ErrorKind, Graph, GraphState, START, StateGraph};
use superstep_sqlite::{SqliteCheckpointer, Synchronous};

use crate::instrumented_store::{InstrumentedStore, stay_pending};
use crate::journal::Journal;

#[derive(GraphState, Clone, Debug)]
struct Book {
    #[state(input)]
    line: String,
    #[state(reducer = append)]
    lines: Vec<String>,
}

async fn open(_: &Book) {
    stay_pending(3).await;
}

async fn write(book: &Book) -> BookUpdate {
    stay_pending(2).await;
    Book::update().lines([book.line.clone()])
}

fn graph() -> Graph<Book> {
    StateGraph::<Book>::new().edge(START, open).edge(open, write).edge(write, END).compile().unwrap()
}

const PATIENT: OnConflict = OnConflict::Wait(Duration::from_secs(600));

/// Asserts that every run has written its line once, in a row, and that nothing is pending.
async fn assert_lines_in_order(thread: &Thread<Book>, expected: &[&str], about: &str) -> Vec<String> {
    let history = thread.history().await.unwrap();
    assert!(history[0].is_finished(), "{about}");
    for pair in history.windows(2) {
        assert_eq!(pair[0].parent, Some(pair[1].id), "{about}");
    }
    let lines = history[0].state.as_ref().unwrap().lines.clone();
    let distinct: HashSet<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!((lines.len(), distinct), (expected.len(), expected.iter().copied().collect()), "{about}");
    lines
}

/// Drops a run that waits for another one, while a third waits for it. Returns `true` if it had ended before.
async fn dropped_after(store: impl Checkpointer, polls: u32, durability: Durability) -> bool {
    let about = format!("{polls} polls, {durability:?}");
    let thread = graph().with_checkpointer(store).thread("t");
    let run = |line: &str| thread.run(Book::input(line)).on_conflict(PATIENT).durability(durability);
    let first = tokio::spawn(run("first").start().await.unwrap().unwrap().finish());
    let third = tokio::spawn(run("third"));
    let mut second = run("second").run_id("second");
    let mut polled = 0;
    let ended = poll_fn(|cx| {
        if polled == polls {
            return Poll::Ready(None);
        }
        polled += 1;
        let poll = Pin::new(&mut second).poll(cx).map(Some);
        if polled == polls && poll.is_pending() { Poll::Ready(None) } else { poll }
    })
    .await;
    drop(second);
    if let Some(outcome) = &ended {
        assert!(outcome.as_ref().unwrap().state().lines.contains(&"second".to_owned()), "{about}");
    }
    // In both cases, its line is written once.
    let again = loop {
        let short = OnConflict::Wait(Duration::from_millis(20));
        match run("second").run_id("second").on_conflict(short).await {
            Ok(outcome) => break outcome,
            Err(error) if matches!(error.kind(), ErrorKind::PendingTasks { .. } | ErrorKind::Conflict(_)) => {
            }
            Err(error) => panic!("{about}: {error:?}"),
        }
    };
    assert!(again.state().lines.contains(&"second".to_owned()), "{about}");
    first.await.unwrap().unwrap();
    third.await.unwrap().unwrap();
    assert_lines_in_order(&thread, &["first", "second", "third"], &about).await;
    ended.is_some()
}

#[tokio::test(start_paused = true)]
async fn waiting_run_dropped_after_any_poll_writes_once() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for slow in [0, 1, 3] {
            let mut polls = 0;
            let store = || {
                let mut store = InstrumentedStore::new(MemoryCheckpointer::new(), Journal::in_memory().0);
                store.slow = slow;
                store
            };
            while !dropped_after(store(), polls, durability).await {
                polls += 1;
                assert!(polls < 10_000, "the run has no end");
            }
            assert!(polls > 5, "it has waited");
        }
    }
}

fn file(path: &Path) -> SqliteCheckpointer {
    SqliteCheckpointer::options().synchronous(Synchronous::Normal).readers(1).open(path).unwrap()
}

#[tokio::test]
async fn waiting_run_on_sqlite_dropped_after_any_poll_writes_once() {
    let folder = tempfile::tempdir().unwrap();
    for durability in [Durability::Async, Durability::Exit] {
        let mut polls = 0;
        let path = |polls| folder.path().join(format!("{durability:?}-{polls}.db"));
        while !dropped_after(file(&path(polls)), polls, durability).await {
            polls += 1;
            assert!(polls < 10_000, "the run has no end");
        }
    }
}

const PATH: &str = "DURABILITY_TEST_WAITING";
const LINES: &str = "DURABILITY_TEST_WAITING_LINES";

/// Does nothing on its own. In a child process, waits for the thread with each line, and reports its reads.
#[test]
fn child_process() {
    let (Ok(path), Ok(lines)) = (env::var(PATH), env::var(LINES)) else { return };
    let journal = Journal::with_listener(|line| println!("\njournal {line}"));
    let store = InstrumentedStore::new(file(Path::new(&path)), journal);
    let thread = graph().with_checkpointer(store).thread("t");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        for line in lines.split(',') {
            thread.run(Book::input(line)).on_conflict(PATIENT).await.unwrap();
        }
    });
}

fn process(path: &Path, lines: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "waiting::child_process", "--nocapture"])
        .env(PATH, path)
        .env(LINES, lines)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

#[tokio::test]
async fn waiting_runs_of_several_processes_all_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let all = ["a,b,c,d,e", "f,g,h,i,j", "k,l,m,n,o", "p,q,r,s,t"];
    let processes: Vec<_> = all.iter().map(|lines| process(&path, lines)).collect();
    for process in processes {
        let ended = process.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    }
    let thread = graph().with_checkpointer(file(&path)).thread("t");
    let expected: Vec<&str> = all.iter().flat_map(|lines| lines.split(',')).collect();
    let lines = assert_lines_in_order(&thread, &expected, "several processes").await;
    for of_one in all {
        let written: Vec<&str> =
            lines.iter().map(String::as_str).filter(|line| of_one.contains(line)).collect();
        assert_eq!(written.join(","), of_one, "the lines of one process are in its order");
    }
}

#[tokio::test]
async fn process_killed_while_waiting_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let thread = graph().with_checkpointer(file(&path)).thread("t");
    let mut blocked =
        thread.run(Book::input("held")).durability(Durability::Sync).start().await.unwrap().unwrap();
    let mut child = process(&path, "killed");
    let output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    // Repeated reads show that it waits.
    let mut read = output.filter(|line| line.starts_with("journal planned"));
    assert!(read.nth(2).is_some());
    child.kill().unwrap();
    child.wait().unwrap();
    while blocked.step().await.unwrap() {}
    drop(blocked);
    assert_eq!(assert_lines_in_order(&thread, &["held"], "killed").await, ["held"]);
    let after = thread.run(Book::input("after")).on_conflict(PATIENT).await.unwrap();
    assert_eq!(after.state().lines, ["held", "after"]);
}
