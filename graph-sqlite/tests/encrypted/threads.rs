use std::sync::atomic::{AtomicBool, Ordering};

use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::thread::{PersistentGraph, Thread, as_node};
use superstep::{
    ContextWith, END, ErrorKind, GraphState, NodeError, Outcome, Result, Route, START, StateGraph,
};
use superstep_sqlite::SqliteCheckpointer;
use superstep_store::checkpoint::{CheckpointError, Checkpointer};

use crate::File;

const INPUT: &str = "secret of the input";
const FIELD: &str = "secret of a field";
const PACKET: &str = "secret of a packet";
const STEP: &str = "secret of a step";
const QUESTION: &str = "secret of a question";
const ANSWER: &str = "secret of an answer";
const FAILURE: &str = "secret of a failure";
const UPDATE: &str = "secret of an update";

/// The secrets. Each enters the store in another way, and none may be in a file.
const SECRETS: [&str; 8] = [INPUT, FIELD, PACKET, STEP, QUESTION, ANSWER, FAILURE, UPDATE];

#[derive(GraphState, Clone, Debug)]
struct Patient {
    #[state(input)]
    name: String,
    #[state(reducer = append)]
    notes: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Sample {
    text: String,
}

#[derive(Route)]
enum Plan {
    #[to(examine)]
    Examine(Sample),
}

#[derive(Serialize, Deserialize)]
struct Consent {
    to: String,
}

impl Question for Consent {
    type Answer = String;
}

/// `true` if the laboratory works.
#[derive(Default)]
struct Laboratory(AtomicBool);

fn note(text: impl Into<String>) -> PatientUpdate {
    Patient::update().notes([text.into()])
}

async fn check_input(_: &Patient) -> (PatientUpdate, Plan) {
    (note(FIELD), Plan::Examine(Sample { text: PACKET.to_owned() }))
}

async fn examine(sample: &Sample, cx: &ContextWith<Laboratory>) -> Result<PatientUpdate> {
    let found = cx.step("laboratory", async { Ok::<_, NodeError>(STEP.to_owned()) }).await?;
    let consent = cx.interrupt(Consent { to: QUESTION.to_owned() }).await;
    if !cx.context().0.swap(true, Ordering::SeqCst) {
        return Err(NodeError::msg(FAILURE));
    }
    Ok(Patient::update().notes([sample.text.clone(), found, consent]))
}

fn hospital(store: impl Checkpointer) -> PersistentGraph<Patient, Laboratory> {
    let graph =
        StateGraph::<Patient>::with_context::<Laboratory>().edge(START, check_input).edge(examine, END);
    graph.compile().unwrap().with_checkpointer(store)
}

/// Runs the whole thread. Every call opens the store anew, like a new process.
async fn stay<C: Checkpointer>(open: impl Fn() -> C) -> Thread<Patient, Laboratory> {
    let thread = || hospital(open()).thread("bed 12");
    let laboratory = std::sync::Arc::new(Laboratory::default());
    let outcome = thread().run(Patient::input(INPUT)).context(laboratory.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Interrupted(_)));

    let interrupt = thread().interrupts().await.unwrap().only::<Consent>().unwrap();
    assert_eq!(interrupt.to, QUESTION);
    let answer = interrupt.answer(ANSWER.to_owned());
    let failed = thread().resume(answer).context(laboratory.clone()).await.unwrap_err();
    assert!(matches!(failed.kind(), ErrorKind::Node { .. }), "{failed}");
    let error = thread().state().await.unwrap().unwrap().tasks.remove(0).error.unwrap();
    assert!(error.text.contains(FAILURE), "{error:?}");

    let outcome = thread().resume(()).context(laboratory.clone()).await.unwrap();
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    thread().update(note(UPDATE), as_node(examine)).context(laboratory).await.unwrap();
    thread()
}

#[tokio::test]
async fn thread_on_an_encrypted_file_works_like_any_other() {
    let file = File::new();
    let thread = stay(|| file.encrypted().unwrap()).await;
    let history = thread.history().await.unwrap();
    let steps: Vec<i64> = history.iter().map(|snapshot| snapshot.step).collect();
    assert_eq!(steps, [3, 2, 1, 0, -1]);
    let state = history.first().unwrap().state.as_ref().unwrap();
    assert_eq!(state.name, INPUT);
    assert_eq!(state.notes, [FIELD, PACKET, STEP, ANSWER, UPDATE]);
}

#[tokio::test]
async fn file_contains_no_secret() {
    let plain = File::new();
    stay(|| SqliteCheckpointer::open(plain.path()).unwrap()).await;
    for secret in SECRETS {
        // The search finds the secret without encryption.
        assert!(plain.has(secret), "{secret}");
    }
    let file = File::new();
    let thread = stay(|| file.encrypted().unwrap()).await;
    for secret in SECRETS {
        assert!(!file.has(secret), "{secret}");
    }
    assert!(file.has("bed 12") && file.has("notes"), "names are not encrypted, as documented");
    drop(thread);
    for secret in SECRETS {
        assert!(!file.has(secret), "{secret} after the file was closed");
    }
}

#[tokio::test]
async fn copy_and_original_continue_independently() {
    let file = File::new();
    let thread = stay(|| file.encrypted().unwrap()).await;
    let copy = thread.copy("bed 13").await.unwrap();
    copy.update(note("moved"), as_node(examine)).context(Laboratory::default()).await.unwrap();
    thread.update(note("stayed"), as_node(examine)).context(Laboratory::default()).await.unwrap();
    for (thread, last) in [("bed 12", "stayed"), ("bed 13", "moved")] {
        let thread = hospital(file.encrypted().unwrap()).thread(thread);
        let notes = thread.state().await.unwrap().unwrap().state.unwrap().notes;
        assert_eq!(notes, [FIELD, PACKET, STEP, ANSWER, UPDATE, last]);
        assert_eq!(thread.history().await.unwrap().len(), 6);
    }
    assert!(thread.delete().await.unwrap());
    assert_eq!(copy.history().await.unwrap().len(), 6, "a copy does not need its original");
}

#[tokio::test]
async fn tampered_row_fails_with_its_location() {
    let changes = [
        ("UPDATE checkpoint SET next = '[\"check_input\"]'", "the plan of thread `bed 12`"),
        ("UPDATE field SET name = 'title' WHERE name = 'name'", "field `title` of thread `bed 12`"),
        ("UPDATE piece SET data = '\"Eve\"', encoding = 0 WHERE whole", "of thread `bed 12`, at checkpoint"),
        ("UPDATE thread SET origin = 'another'", "of thread `bed 12`, at checkpoint"),
    ];
    for (change, expected) in changes {
        let file = File::new();
        drop(stay(|| file.encrypted().unwrap()).await);
        let changed = Connection::open(file.path()).unwrap().execute(change, []).unwrap();
        assert!(changed > 0, "{change}");
        let thread = hospital(file.encrypted().unwrap()).thread("bed 12");
        let error = thread.state().await.unwrap_err();
        let ErrorKind::Checkpoint(store) = error.kind() else { panic!("{change}: {error}") };
        let message = store.to_string();
        assert!(
            matches!(**store, CheckpointError::Corrupt(_)) && message.contains(expected),
            "{change}: {message}"
        );
    }
}
