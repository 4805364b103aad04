//! Machines on threads: resume, history, time travel and redirects.

use superstep::checkpoint::{Checkpointer, MemoryCheckpointer};
use superstep::machine::{Machine, StateMachine};
use superstep::thread::as_node;
use superstep::{Durability, START};
use superstep_sqlite::SqliteCheckpointer;

use crate::fives::{DivisibleBy5, Fives, FivesNode, FivesRun, Increment};

fn fives() -> StateMachine<Fives> {
    Fives::compile().unwrap()
}

/// Runs each node as a separate process would: only the store is shared.
async fn node_by_node<C: Checkpointer>(open: impl Fn() -> C) {
    let started = fives().with_checkpointer(open()).thread("a").run(Fives::start(DivisibleBy5(3)));
    drop(started.durability(Durability::Sync).iter().await.unwrap().unwrap());
    let mut shown = Vec::new();
    loop {
        let thread = fives().with_checkpointer(open()).thread("a");
        let run = thread.resume(()).durability(Durability::Sync).iter().await.unwrap();
        let mut run = run.unwrap();
        match run.next().await.unwrap() {
            Some(node) => shown.push(format!("{node:?}")),
            None => break assert_eq!(run.output(), Some(&5)),
        }
    }
    assert_eq!(
        shown,
        [r#"Increment({"foo":3})"#, "DivisibleBy5(4)", r#"Increment({"foo":4})"#, "DivisibleBy5(5)"]
    );
    // The finished thread has nothing to run and keeps its output.
    let thread = fives().with_checkpointer(open()).thread("a");
    assert!(thread.resume(()).iter().await.unwrap().is_none());
    assert_eq!(thread.resume(()).await.unwrap().ended().unwrap().output, 5);
}

#[tokio::test]
async fn thread_resumes_at_the_planned_node_with_its_data() {
    let store = MemoryCheckpointer::new();
    node_by_node(|| store.clone()).await;
    let folder = tempfile::tempdir().unwrap();
    node_by_node(|| SqliteCheckpointer::open(folder.path().join("fives.db")).unwrap()).await;
}

#[tokio::test]
async fn history_shows_each_node_with_its_data() {
    let thread = fives().with_checkpointer(MemoryCheckpointer::new()).thread("a");
    thread.run(Fives::start(DivisibleBy5(4))).await.unwrap();
    let history = thread.history().await.unwrap();
    let packets = history.iter().rev().map(|snapshot| match snapshot.tasks.as_slice() {
        [task] => format!("{} {}", task.node, task.packet.clone().unwrap_or_default()),
        _ => String::new(),
    });
    assert_eq!(
        packets.collect::<Vec<_>>(),
        ["START null", "DivisibleBy5 4", r#"Increment {"foo":4}"#, "DivisibleBy5 5", ""]
    );
    let picture = fives().picture().highlight_named(&history[2].next).to_mermaid().unwrap();
    assert!(picture.contains("class n1 highlighted"), "{picture}");

    // A replay from the middle runs the node that was planned there.
    let again = thread.at(history[2].id).run_again().await.unwrap();
    assert_eq!(again.ended().unwrap().output, 5);
}

#[tokio::test]
async fn second_run_on_a_thread_has_a_new_output() {
    let thread = fives().with_checkpointer(MemoryCheckpointer::new()).thread("a");
    assert_eq!(thread.run(Fives::start(DivisibleBy5(4))).await.unwrap().ended().unwrap().output, 5);
    let paused = thread.run(Fives::start(Increment { foo: 6 })).interrupt_after_all().await.unwrap();
    paused.ended().unwrap_err();
    assert_eq!(thread.resume(()).await.unwrap().ended().unwrap().output, 10);
}

#[tokio::test]
async fn next_with_on_a_thread_writes_a_checkpoint() {
    let store = MemoryCheckpointer::new();
    let thread = fives().with_checkpointer(store.clone()).thread("a");
    let run = thread.run(Fives::start(DivisibleBy5(3))).durability(Durability::Sync);
    let mut run = run.iter().await.unwrap().unwrap();
    run.next().await.unwrap();
    let next = run.next_with(Increment { foo: 13 }).await.unwrap();
    assert!(matches!(next, Some(FivesNode::DivisibleBy5(node)) if node.0 == 14));
    drop(run);

    let sources = thread.history().await.unwrap();
    let sources: Vec<_> = sources.iter().rev().map(|at| format!("{:?} {}", at.source, at.step)).collect();
    assert_eq!(sources, ["Input -1", "Loop 0", "Loop 1", "Update 2", "Loop 3"]);
    let thread = fives().with_checkpointer(store).thread("a");
    assert_eq!(thread.resume(()).await.unwrap().ended().unwrap().output, 15);
}

#[tokio::test]
async fn update_redirects_a_thread_to_another_node() {
    let thread = fives().with_checkpointer(MemoryCheckpointer::new()).thread("a");
    let run = thread.run(Fives::start(DivisibleBy5(3))).interrupt_before(Fives::node::<Increment>());
    assert!(run.await.unwrap().pause().is_some());
    thread.update(Fives::redirect(Increment { foo: 21 }), as_node(START)).await.unwrap();
    assert_eq!(thread.resume(()).await.unwrap().ended().unwrap().output, 25);
    // A redirect can also be the first checkpoint of a thread.
    let other = fives().with_checkpointer(MemoryCheckpointer::new()).thread("b");
    other.update(Fives::redirect(Increment { foo: 31 }), as_node(START)).await.unwrap();
    assert_eq!(other.resume(()).await.unwrap().ended().unwrap().output, 35);

    let nothing = FivesRun::update();
    let error = other.update(nothing, as_node(Fives::node::<Increment>())).await.unwrap_err();
    assert!(error.to_string().contains("the node returns its route"), "{error}");
}

mod balanced {
    //! A machine whose input breaks the invariant of its state.

    use serde::{Deserialize, Serialize};
    use superstep::GraphState;
    use superstep::machine::{End, Machine};

    #[derive(GraphState, Clone, Debug)]
    #[state(invariant = even)]
    pub(super) struct Book {
        #[state(input)]
        given: u32,
        taken: u32,
    }

    fn even(book: &Book) -> Result<(), &'static str> {
        if book.given == book.taken { Ok(()) } else { Err("the book is not balanced") }
    }

    #[derive(Machine)]
    #[machine(nodes(Balance), state = Book)]
    pub(super) struct Books;

    #[derive(Serialize, Deserialize)]
    pub(super) struct Balance;

    impl Balance {
        async fn run(&self, book: &Book) -> (BookUpdate, End) {
            (Book::update().taken(book.given), End(()))
        }
    }
}

#[tokio::test]
async fn refused_redirect_keeps_the_planned_node() {
    use balanced::{Balance, Book, Books};

    let thread = Books::compile().unwrap().with_checkpointer(MemoryCheckpointer::new()).thread("a");
    let run = thread.run(Books::start_with(Balance, Book::input(3_u32))).durability(Durability::Sync);
    let mut run = run.iter().await.unwrap().unwrap();
    let error = run.next_with(Balance).await.unwrap_err();
    assert!(
        error.to_string().contains("not balanced") || format!("{error:?}").contains("not balanced"),
        "{error:?}"
    );
    assert!(run.next().await.unwrap().is_none());
    let history = thread.history().await.unwrap();
    let sources: Vec<_> = history.iter().rev().map(|at| format!("{:?} {}", at.source, at.step)).collect();
    assert_eq!(sources, ["Input -1", "Loop 0", "Loop 1"]);
}
