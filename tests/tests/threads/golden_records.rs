//! Golden files with records of resumes (updates, added nodes) and breakpoints.
//!
//! See [`golden`](super::golden).
//!
//! ```text
//! WRITE_GOLDEN=tests/golden/records-2.db cargo test -p tests --test threads golden_records
//! ```

use std::path::Path;

use superstep::thread::{Thread, as_node};
use superstep::{
    ContextWith, Durability, END, FailureMode, Graph, GraphState, NodeError, Overwrite, START, StateGraph,
};
use superstep_sqlite::SqliteCheckpointer;

use super::golden::{files, write_if_requested};
use super::story::next;

#[derive(GraphState, Clone, Debug)]
struct Trip {
    #[state(input)]
    to: String,
    #[state(reducer = append)]
    log: Vec<String>,
    price: Option<u32>,
}

/// `true` if the hotel answers.
type Answers = bool;

fn log(text: &str) -> TripUpdate {
    Trip::update().log([text.to_owned()])
}

async fn plan(trip: &Trip) -> TripUpdate {
    log(&format!("plan {}", trip.to))
}

async fn book(_: &Trip, cx: &ContextWith<Answers>) -> Result<TripUpdate, NodeError> {
    if *cx.context() { Ok(log("book")) } else { Err(NodeError::msg("nobody answers")) }
}

async fn pack(trip: &Trip) -> TripUpdate {
    log(&format!("pack after {}", trip.log.len()))
}

fn graph() -> Graph<Trip, Answers> {
    StateGraph::<Trip>::with_context::<Answers>()
        .name("trip")
        .edge(START, plan)
        .edge(plan, book)
        .edge(book, pack)
        .edge(pack, END)
        .compile()
        .unwrap()
}

fn thread(file: &Path, name: &str) -> Thread<Trip, Answers> {
    graph().with_checkpointer(SqliteCheckpointer::open(file).unwrap()).thread(name)
}

/// Writes the contents of a golden file:
/// - a thread with two failed resumes, one of them with an added node
/// - a thread that has stopped at a breakpoint
/// - a thread whose run was dropped before it could stop there
/// - a finished thread with an added node that has not run
async fn write(file: &Path) {
    let patched = thread(file, "patched");
    patched.run(Trip::input("Rome")).context(false).await.unwrap_err();
    let resumed = patched.resume(()).update(log("call").price(300)).goto(as_node(pack));
    // `Collect` lets every other task finish, so that the file does not depend on timing.
    resumed.on_failure(FailureMode::Collect).context(false).await.unwrap_err();
    let write = Trip::update().log(Overwrite(vec!["forget it".to_owned()]));
    patched.resume(()).update(write).context(false).await.unwrap_err();

    let gated = thread(file, "gated").run(Trip::input("Oslo")).interrupt_before(book);
    assert!(gated.context(true).await.unwrap().pause().is_some());

    let killed = thread(file, "killed").run(Trip::input("Bern")).interrupt_after(plan);
    let mut killed = killed.durability(Durability::Sync).context(true).start().await.unwrap().unwrap();
    while killed.next() != ["book"] {
        killed.step().await.unwrap();
    }

    let finished = thread(file, "finished");
    finished.run(Trip::input("Graz")).context(true).await.unwrap();
    finished.resume(()).goto(as_node(book)).context(false).await.unwrap_err();
}

async fn check(file: &Path) {
    let patched = thread(file, "patched");
    let snapshot = patched.state().await.unwrap().unwrap();
    let state = snapshot.state.as_ref().unwrap();
    assert_eq!((next(&snapshot).as_str(), state.price), ("book pack", Some(300)));
    assert_eq!(state.log, ["forget it"]);
    assert!(snapshot.tasks[0].error.is_some() && snapshot.tasks[1].result.is_some());
    let end = patched.resume(()).context(true).await.unwrap();
    assert_eq!(end.state().log, ["forget it", "book", "pack after 2", "pack after 3"]);

    let gated = thread(file, "gated");
    assert_eq!(gated.interrupts().await.unwrap().before(), ["book"]);
    let end = gated.resume(()).interrupt_before(book).context(true).await.unwrap();
    assert_eq!(end.state().log, ["plan Oslo", "book", "pack after 2"]);

    let killed = thread(file, "killed");
    assert!(killed.interrupts().await.unwrap().after().is_empty());
    let stopped = killed.resume(()).interrupt_after(plan).context(true).await.unwrap();
    assert_eq!(stopped.pause().unwrap().after(), ["plan"]);
    let end = killed.resume(()).interrupt_after(plan).context(true).await.unwrap();
    assert_eq!(end.state().log, ["plan Bern", "book", "pack after 2"]);

    let finished = thread(file, "finished");
    assert_eq!(next(&finished.state().await.unwrap().unwrap()), "book");
    let end = finished.resume(()).context(true).await.unwrap();
    assert_eq!(end.state().log, ["plan Graz", "book", "pack after 2", "book", "pack after 4"]);
}

#[tokio::test]
async fn golden_files_with_resume_records_are_continued() {
    write_if_requested("records", write).await;
    let files = files("records");
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
    check(&file).await;
}
