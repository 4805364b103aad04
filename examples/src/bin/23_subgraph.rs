//! Graphs as nodes of others: one on the same state, one with a state of its own, and a way out of both.
//!
//! A person is asked from within two graphs, the program could be killed while it waits, and what ran before the question does
//! not run again.

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

/// What a search keeps to itself.
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

/// Asks a person; without their leave there is nothing to search for, for nobody.
async fn check(search: &Search, cx: &Context) -> Option<ParentCommand<Report, GiveUp>> {
    let goes_on = cx.interrupt(Continue { found: search.found.len() }).await;
    (!goes_on).then(|| ParentCommand::to(GiveUp::Now))
}

/// A way in the graph around the search.
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
    // On the report itself: what its nodes write is its update.
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
        superstep::bail!("it asks first")
    };
    let asked = pause.only::<Continue>()?;
    for question in pause.interrupts() {
        println!("asked within {}: go on with {} sources?", question.namespace.join("/"), asked.found);
    }

    // Perhaps in another process, days later.
    let report = thread.resume(asked.answer(true)).await?.into_state();
    println!("{}", report.notes.join("\n"));
    assert_eq!(
        report.notes,
        ["an old book on bees", "a letter on bees", "2 sources", "a report from 3 notes"]
    );

    // What is stored of the calls can be looked into.
    let inner = thread.within(&research).within(&search);
    let steps: Vec<_> = inner.history().await?.iter().map(|snapshot| snapshot.step).collect();
    println!("the search has the checkpoints {steps:?}");
    assert_eq!(steps, [2, 1, 0, -1]);
    Ok(())
}
