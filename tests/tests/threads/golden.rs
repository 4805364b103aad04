//! Golden files: files of every released format stay readable.
//!
//! Every `threads-….db` in `tests/golden/` holds the same two threads, written by the program below in an earlier format.
//! They are never overwritten. A change of the file format or of the stored records adds a new file:
//!
//! ```text
//! WRITE_GOLDEN=tests/golden/threads-2.db cargo test -p tests --test threads golden
//! ```
//!
//! The path is relative to the `tests` package. State and graph are part of the test and must not change.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use superstep::checkpoint::CheckpointSource;
use superstep::interrupt::Question;
use superstep::thread::Thread;
use superstep::{
    ContextWith, END, FailureMode, Graph, GraphState, NodeError, Overwrite, Route, START, StateGraph,
};
use superstep_sqlite::SqliteCheckpointer;
use tempfile::TempDir;

use super::story::next;

#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Message {
    id: u64,
    text: String,
}

#[derive(GraphState, Clone, Debug)]
struct Desk {
    #[state(input)]
    subject: String,
    #[state(input, reducer = append)]
    messages: Vec<Message>,
    #[state(reducer = merge)]
    seen: BTreeMap<String, u32>,
    #[state(reducer = add)]
    cost: f64,
    #[state(exclude)]
    token: Option<String>,
    #[state(untracked)]
    scratch: String,
    #[state(ephemeral)]
    hint: Option<String>,
    done: bool,
}

/// `true` if the packet for Bob succeeds.
type Works = bool;

#[derive(Serialize, Deserialize)]
struct Approve {
    price: f64,
}

impl Question for Approve {
    type Answer = bool;
}

#[derive(Serialize, Deserialize)]
struct Letter {
    to: String,
}

#[derive(Route)]
enum Post {
    #[to(send)]
    Send(Letter),
    #[to(ask)]
    Ask,
}

fn message(id: u64, text: &str) -> Message {
    Message { id, text: text.to_owned() }
}

async fn sort(desk: &Desk) -> (DeskUpdate, Vec<Post>) {
    let update = Desk::update()
        .messages([message(desk.messages.len() as u64, "sorted \u{1F4EC} \"now\"")])
        .seen([("sort".to_owned(), 1)])
        .cost(0.1)
        .token("secret")
        .scratch("forgotten")
        .hint("for the next");
    let letter = |to: &str| Post::Send(Letter { to: to.to_owned() });
    (update, vec![letter("Ann"), Post::Ask, letter("Bob")])
}

async fn ask(desk: &Desk, cx: &ContextWith<Works>) -> Result<DeskUpdate, NodeError> {
    let receipt: u32 = cx.step("charge", async { Ok::<_, NodeError>(41) }).await?;
    let yes = cx.interrupt(Approve { price: desk.cost }).keyed("price").await;
    Ok(Desk::update().messages([message(10, &format!("{yes} {receipt} {:?}", desk.hint))]).cost(0.2))
}

async fn send(letter: &Letter, cx: &ContextWith<Works>) -> Result<DeskUpdate, NodeError> {
    if letter.to == "Bob" && !*cx.context() {
        return Err(NodeError::msg("no stamps"));
    }
    let text = format!("to {} at attempt {}", letter.to, cx.attempt());
    Ok(Desk::update().messages([message(11, &text)]).seen([(letter.to.clone(), cx.attempt())]))
}

async fn close(desk: &Desk) -> DeskUpdate {
    let update = Desk::update().done(true);
    if desk.messages.len() > 8 { update.messages(Overwrite(vec![message(0, "short")])) } else { update }
}

fn graph() -> Graph<Desk, Works> {
    StateGraph::<Desk>::with_context::<Works>()
        .name("desk")
        .edge(START, sort)
        .edge(send, close)
        .edge(ask, close)
        .edge(close, END)
        .compile()
        .unwrap()
}

fn thread(file: &Path, name: &str) -> Thread<Desk, Works> {
    graph().with_checkpointer(SqliteCheckpointer::open(file).unwrap()).thread(name)
}

async fn answer(thread: &Thread<Desk, Works>, yes: bool) -> Desk {
    let question = thread.interrupts().await.unwrap().by_key::<Approve>("price").unwrap();
    thread.resume(question.answer(yes)).context(true).await.unwrap().into_state()
}

/// Writes the contents of a golden file: a thread with two runs, and a thread with a failure and an open interrupt.
async fn write(file: &Path) {
    let done = thread(file, "done");
    for (subject, id) in [("first", 1), ("second", 2)] {
        let input = Desk::input(subject).messages([message(id, subject)]);
        done.run(input).run_id(subject).metadata("user", "ada").context(true).await.unwrap();
        answer(&done, true).await;
    }
    let open = thread(file, "open");
    // `Collect` lets every other task finish, so that the file does not depend on timing.
    let run = open.run(Desk::input("open")).run_id("r").on_failure(FailureMode::Collect);
    run.context(false).await.unwrap_err();
}

fn texts(desk: &Desk) -> String {
    desk.messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("; ")
}

async fn check_done(thread: Thread<Desk, Works>) {
    let history = thread.history().await.unwrap();
    let seen: Vec<_> = history
        .iter()
        .map(|at| {
            let messages = at.state.as_ref().map_or(0, |state| state.messages.len());
            format!("{} {} {messages}: {}", at.step, at.source.name(), next(at)).trim_end().to_owned()
        })
        .collect();
    expect_test::expect![[r#"
        8 loop 1:
        7 loop 10: close
        6 loop 7: ask send send
        5 loop 6: sort
        4 input 5: START
        3 loop 5:
        2 loop 5: close
        1 loop 2: ask send send
        0 loop 1: sort
        -1 input 0: START"#]]
    .assert_eq(&seen.join("\n"));
    let newest = history[0].state.as_ref().unwrap();
    assert_eq!((texts(newest).as_str(), newest.done), ("short", true));
    assert_eq!(newest.cost.to_bits(), (0.1_f64 + 0.2 + 0.1 + 0.2).to_bits());
    assert_eq!(newest.seen, [("Ann".to_owned(), 1), ("Bob".to_owned(), 1), ("sort".to_owned(), 1)].into());
    assert_eq!((newest.token.as_deref(), newest.scratch.as_str()), (Some("secret"), ""));
    assert_eq!(thread.history().run_id("first").source(CheckpointSource::Input).await.unwrap().len(), 1);
    assert!(!thread.history().filter("user", "ada").await.unwrap().is_empty());
    // The thread continues.
    thread.run(Desk::input("third")).context(true).await.unwrap();
    assert_eq!(texts(&answer(&thread, false).await).split("; ").count(), 5);
}

async fn check_open(thread: Thread<Desk, Works>) {
    let snapshot = thread.state().await.unwrap().unwrap();
    assert_eq!(next(&snapshot), "ask send send");
    assert_eq!(snapshot.state.as_ref().unwrap().hint.as_deref(), Some("for the next"));
    let failed = snapshot.tasks[2].error.as_ref().unwrap();
    assert_eq!((failed.text.as_str(), failed.attempt), ("no stamps", 1));
    assert_eq!(snapshot.tasks[2].packet, Some(serde_json::json!({"to": "Bob"})));
    assert!(snapshot.tasks[1].result.is_some());
    let desk = answer(&thread, true).await;
    let expected =
        "sorted \u{1F4EC} \"now\"; true 41 Some(\"for the next\"); to Ann at attempt 1; to Bob at attempt 2";
    assert_eq!(texts(&desk), expected);
    assert_eq!((desk.cost, desk.done, desk.hint), (0.1 + 0.2, true, None));
}

/// Copies the golden files with this prefix, each to its own folder.
pub(crate) fn files(kind: &str) -> Vec<(TempDir, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| is_of(file, kind) && file.extension().is_some_and(|extension| extension == "db"));
    files.sort();
    let copy = |file: PathBuf| {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join("threads.db");
        std::fs::copy(&file, &copy).unwrap();
        (folder, copy)
    };
    files.into_iter().map(copy).collect()
}

fn is_of(file: &Path, kind: &str) -> bool {
    file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(kind))
}

/// Writes the golden file that `WRITE_GOLDEN` names, if it is of this kind.
pub(crate) async fn write_if_requested(kind: &str, write: impl AsyncFn(&Path)) {
    let Some(file) = std::env::var_os("WRITE_GOLDEN") else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if !is_of(&file, kind) {
        return;
    }
    assert!(!file.exists(), "{} is there: golden files are never overwritten", file.display());
    write(&file).await;
    // The last closed handle moves the log into the file.
    while file.with_extension("db-wal").exists() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn golden_files_are_read_and_continued() {
    write_if_requested("threads", write).await;
    let files = files("threads");
    assert!(!files.is_empty());
    for (_folder, copy) in files {
        check_done(thread(&copy, "done")).await;
        check_open(thread(&copy, "open")).await;
    }
}

/// The current format passes the same checks.
#[tokio::test]
async fn new_file_is_read_like_a_golden_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("threads.db");
    write(&file).await;
    check_done(thread(&file, "done")).await;
    check_open(thread(&file, "open")).await;
}
