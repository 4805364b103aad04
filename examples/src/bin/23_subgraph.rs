//! Shows subgraphs: one with the parent's state, one with its own state, and a command from a subgraph to its parent graph.
//! Run with `cargo run -p examples --bin 23_subgraph`.
//!
//! The inner subgraph asks a person. The program may be killed while it waits. The nodes that ran before the question do not run
//! again.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::subgraph::ParentCommand;
use superstep::{Context, END, GraphState, Outcome, Result, Route, START, StateGraph};
use superstep_sqlite::SqliteCheckpointer;

#[derive(GraphState, Clone, Debug)]
struct Report {
    #[state(input)]
    topic: String,
    #[state(reducer = append)]
    notes: Vec<String>,
}

/// The state of the inner subgraph.
#[derive(GraphState, Clone, Debug)]
struct Search {
    #[state(input)]
    question: String,
    #[state(reducer = append)]
    found: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Continue {
    found: usize,
}

impl Question for Continue {
    type Answer = bool;
}

async fn look(search: &Search) -> SearchUpdate {
    Search::update().found(["an old book", "a letter"].map(|found| format!("{found} on {}", search.question)))
}

/// Asks a person for permission to continue. If it is denied, the parent graph gives up.
async fn check(search: &Search, cx: &Context) -> Option<ParentCommand<Report, GiveUp>> {
    let allowed = cx.interrupt(Continue { found: search.found.len() }).await;
    (!allowed).then(|| ParentCommand::to(GiveUp::Now))
}

/// A route in the parent graph of the search.
#[derive(Route)]
enum GiveUp {
    #[to(END)]
    Now,
}

async fn sum_up(report: &Report) -> ReportUpdate {
    Report::update().notes([format!("{} sources", report.notes.len())])
}

async fn write(report: &Report) -> ReportUpdate {
    Report::update().notes([format!("a report from {} notes", report.notes.len())])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let search =
        StateGraph::<Search>::new().edge(START, look).edge(look, check).edge(check, END).compile()?;
    let search = search.as_node("search").mapped(
        |report: &Report| Search::input(report.topic.clone()),
        |done| Report::update().notes(done.state.found),
    );
    // This subgraph has the state of its parent: the writes of its nodes are its update.
    let research =
        StateGraph::<Report>::new().edge(START, &search).edge(&search, sum_up).edge(sum_up, END).compile()?;
    let research = research.as_node("research");
    let graph = StateGraph::<Report>::new()
        .edge(START, &research)
        .edge(&research, write)
        .edge(write, END)
        .compile()?;

    let folder = tempfile::tempdir()?;
    let store = SqliteCheckpointer::open(folder.path().join("reports.db"))?;
    let thread = graph.with_checkpointer(store).thread("bees");

    let Outcome::Interrupted(pause) = thread.run(Report::input("bees")).await? else {
        superstep::bail!("the run must ask first")
    };
    let question = pause.only::<Continue>()?;
    for open in pause.interrupts() {
        println!("question from {}: continue with {} sources?", open.namespace.join("/"), question.found);
    }

    // Perhaps in another process, days later.
    let report = thread.resume(question.answer(true)).await?.into_state();
    println!("{}", report.notes.join("\n"));
    assert_eq!(
        report.notes,
        ["an old book on bees", "a letter on bees", "2 sources", "a report from 3 notes"]
    );

    // The checkpoints of a subgraph call can be read, too.
    let inner = thread.within(&research).within(&search);
    let steps: Vec<_> = inner.history().await?.iter().map(|snapshot| snapshot.step).collect();
    println!("checkpoints of the search: steps {steps:?}");
    assert_eq!(steps, [2, 1, 0, -1]);
    Ok(())
}
