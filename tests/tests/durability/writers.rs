//! Several writers on one thread: one wins, the others fail, and the winner's work is complete.

use std::collections::HashSet;
use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use superstep::checkpoint::MemoryCheckpointer;
use superstep::thread::{OnConflict, PersistentGraph};
use superstep::{ContextWith, Durability, END, Error, ErrorKind, Graph, GraphState, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;
use tokio::sync::Notify;

#[derive(GraphState, Clone, Debug)]
struct Book {
    #[state(input)]
    line: String,
    #[state(reducer = append)]
    lines: Vec<String>,
}

/// Blocks a run in the middle if `blocked`, and records the nodes that ran.
#[derive(Default)]
struct Hold {
    waits: Option<Box<dyn Fn() + Send + Sync>>,
    reached: Notify,
    go: Notify,
    blocked: bool,
    ran: Mutex<Vec<String>>,
}

async fn open(_: &Book) {}

async fn hold(_: &Book, cx: &ContextWith<Hold>) {
    let hold = cx.context();
    if let Some(waits) = &hold.waits {
        waits();
    }
    if hold.blocked {
        hold.reached.notify_one();
        hold.go.notified().await;
    }
}

async fn write(book: &Book, cx: &ContextWith<Hold>) -> BookUpdate {
    cx.context().ran.lock().unwrap().push("write".to_owned());
    tokio::task::yield_now().await;
    Book::update().lines([book.line.clone()])
}

async fn close(_: &Book, cx: &ContextWith<Hold>) {
    cx.context().ran.lock().unwrap().push("close".to_owned());
}

fn graph() -> Graph<Book, Hold> {
    StateGraph::<Book>::with_context::<Hold>()
        .edge(START, open)
        .edge(open, hold)
        .edge(hold, write)
        .edge(write, close)
        .edge(close, END)
        .compile()
        .unwrap()
}

fn assert_names_both_heads(error: &Error) {
    let ErrorKind::Conflict(conflict) = error.kind() else { panic!("{error:?}") };
    assert_ne!(conflict.expected, conflict.found);
    let text = error.to_string();
    for fence in [conflict.expected, conflict.found] {
        let head = fence.head.map_or_else(|| "no checkpoint".to_owned(), |head| head.to_string());
        assert!(text.contains(&head) && text.contains(&format!("epoch {}", fence.epoch)), "{text}");
    }
}

/// Blocks a run in the middle while another run resumes the thread.
async fn check_overtaken_run(graph: PersistentGraph<Book, Hold>, durability: Durability) {
    let thread = graph.thread("t");
    let blocked = Arc::new(Hold { blocked: true, ..Hold::default() });
    let free = Arc::new(Hold::default());
    let slow =
        tokio::spawn(thread.run(Book::input("slow")).durability(durability).context(Arc::clone(&blocked)));
    blocked.reached.notified().await;

    let refused = thread.run(Book::input("new")).context(Arc::clone(&free)).await.unwrap_err();
    let ErrorKind::PendingTasks { pending, .. } = refused.kind() else { panic!("{refused:?}") };
    // The pending tasks as far as they are durable.
    assert!(["hold", "open", "START"].contains(&&*pending[0]), "{pending:?}");

    let state = thread.resume(()).context(Arc::clone(&free)).await.unwrap().into_state();
    assert_eq!(state.lines, ["slow"]);
    blocked.go.notify_one();
    let error = slow.await.unwrap().unwrap_err();
    assert_names_both_heads(&error);
    if durability == Durability::Sync {
        assert!(blocked.ran.lock().unwrap().is_empty(), "{:?} ran after it was overtaken", blocked.ran);
    }
    assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().lines, ["slow"]);
    assert!(thread.state().await.unwrap().unwrap().is_finished());
    let next = thread.run(Book::input("next")).context(free).await.unwrap().into_state();
    assert_eq!(next.lines, ["slow", "next"]);
}

#[tokio::test]
async fn overtaken_run_stops_and_names_both_heads() {
    let folder = tempfile::tempdir().unwrap();
    for (count, durability) in [Durability::Sync, Durability::Async].into_iter().enumerate() {
        check_overtaken_run(graph().with_checkpointer(MemoryCheckpointer::new()), durability).await;
        let store = SqliteCheckpointer::open(folder.path().join(format!("{count}.db"))).unwrap();
        check_overtaken_run(graph().with_checkpointer(store), durability).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_runs_leave_only_complete_work() {
    for round in 0..20 {
        let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("t");
        let runs: Vec<_> = (0..6)
            .map(|number| {
                let run = thread.run(Book::input(format!("line {number}"))).context(Hold::default());
                (format!("line {number}"), tokio::spawn(run))
            })
            .collect();
        let mut won = HashSet::new();
        for (line, run) in runs {
            match run.await.unwrap() {
                Ok(_) => assert!(won.insert(line)),
                Err(error) if matches!(error.kind(), ErrorKind::PendingTasks { .. }) => {}
                Err(error) => assert_names_both_heads(&error),
            }
        }
        let snapshot = thread.state().await.unwrap().unwrap();
        assert!(!won.is_empty() && snapshot.is_finished(), "round {round}");
        let lines = snapshot.state.unwrap().lines;
        assert_eq!(lines.len(), won.len(), "round {round}: {lines:?}");
        assert_eq!(HashSet::from_iter(lines), won, "round {round}");
    }
}

#[tokio::test]
async fn wait_does_not_delay_a_free_thread() {
    let thread = graph().with_checkpointer(MemoryCheckpointer::new()).thread("t");
    for count in 1..=3 {
        let run = thread.run(Book::input("line")).on_conflict(OnConflict::Wait(Duration::from_secs(60)));
        assert_eq!(run.context(Hold::default()).await.unwrap().into_state().lines.len(), count);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hundred_threads_in_one_file_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteCheckpointer::open(folder.path().join("threads.db")).unwrap();
    let graph = graph().with_checkpointer(store);
    let all: Vec<_> = (0..100)
        .map(|number| {
            let thread = graph.thread(format!("thread {number}"));
            tokio::spawn(async move {
                for line in ["a", "b", "c"] {
                    let line = format!("{line} of {number}");
                    thread.run(Book::input(line)).context(Hold::default()).await.unwrap();
                }
            })
        })
        .collect();
    for one in all {
        one.await.unwrap();
    }
    for number in 0..100 {
        let thread = graph.thread(format!("thread {number}"));
        let state = thread.state().await.unwrap().unwrap().state.unwrap();
        assert_eq!(state.lines, ["a", "b", "c"].map(|line| format!("{line} of {number}")));
        assert_eq!(thread.history().await.unwrap().len(), 18);
    }
}

const PATH: &str = "DURABILITY_TEST_SHARED";

/// Does nothing on its own. In a child process, starts a run and waits in the middle for a line.
#[test]
fn child_process() {
    let Ok(path) = env::var(PATH) else { return };
    let graph = graph().with_checkpointer(SqliteCheckpointer::open(path).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let waits = || {
            println!("\nwaiting");
            std::io::stdin().read_exact(&mut [0]).unwrap();
        };
        let hold = Arc::new(Hold { waits: Some(Box::new(waits)), ..Hold::default() });
        let run = graph.thread("t").run(Book::input("theirs")).durability(Durability::Sync);
        let error = run.context(Arc::clone(&hold)).await.unwrap_err();
        assert_names_both_heads(&error);
        assert!(hold.ran.lock().unwrap().is_empty());
    });
}

#[tokio::test]
async fn process_overtaken_by_another_stops() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("threads.db");
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["--exact", "writers::child_process", "--nocapture"])
        .env(PATH, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(output.any(|line| line.unwrap() == "waiting"));
    let thread = graph().with_checkpointer(SqliteCheckpointer::open(&path).unwrap()).thread("t");
    let refused = thread.run(Book::input("ours")).context(Hold::default()).await.unwrap_err();
    assert!(matches!(refused.kind(), ErrorKind::PendingTasks { .. }), "{refused:?}");
    let state = thread.resume(()).context(Hold::default()).await.unwrap().into_state();
    assert_eq!(state.lines, ["theirs"]);
    child.stdin.take().unwrap().write_all(&[0]).unwrap();
    let rest: Vec<String> = output.map_while(Result::ok).collect();
    assert!(child.wait().unwrap().success(), "{rest:#?}");
    assert_eq!(thread.state().await.unwrap().unwrap().state.unwrap().lines, ["theirs"]);
}
