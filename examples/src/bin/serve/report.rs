//! A report: the subgraph `research` collects notes and asks a person before it continues.

use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, END, Error, Graph, GraphState, Route, START, StateGraph};

/// A report on a topic.
#[derive(GraphState, Clone, Debug)]
pub(crate) struct Report {
    /// The topic.
    #[state(input)]
    topic: String,
    /// The notes that were found.
    #[state(reducer = append)]
    notes: Vec<String>,
    /// The text.
    text: Option<String>,
}

/// The question whether the notes are enough.
#[derive(Serialize, Deserialize)]
struct Enough {
    notes: Vec<String>,
}

impl Question for Enough {
    type Answer = bool;
}

async fn look(report: &Report) -> ReportUpdate {
    let source = ["an old book", "a letter", "an interview"].get(report.notes.len() % 3).copied();
    Report::update().notes([format!("{} on {}", source.unwrap_or("a source"), report.topic)])
}

#[derive(Route)]
enum Verdict {
    #[to(look)]
    More,
    #[to(END)]
    Enough,
}

async fn check(report: &Report, cx: &Context) -> Verdict {
    let notes = report.notes.clone();
    if cx.interrupt(Enough { notes }).await { Verdict::Enough } else { Verdict::More }
}

async fn write(report: &Report) -> ReportUpdate {
    Report::update().text(format!("{}: {}.", report.topic, report.notes.join(", ")))
}

/// Builds the graph.
pub(crate) fn graph() -> Result<Graph<Report>, Error> {
    let research = StateGraph::<Report>::new().edge(START, look).edge(look, check).compile()?;
    let research = research.as_node("research");
    StateGraph::<Report>::new().edge(START, &research).edge(&research, write).edge(write, END).compile()
}
