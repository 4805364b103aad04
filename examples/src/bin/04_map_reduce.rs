//! Map and reduce: one task for each item, as many as there happen to be, all in one superstep.
//!
//! A variant with a payload sends it: the node that reads a `&Subject` runs once for each `Subject` that it is sent.

use serde::{Deserialize, Serialize};
use superstep::{END, GraphState, Result, Route, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Show {
    #[state(input)]
    topic: String,
    /// Written by many tasks of one superstep; appended in the order in which they were sent.
    #[state(reducer = append)]
    jokes: Vec<String>,
    best: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Subject {
    name: String,
}

#[derive(Route)]
enum Map {
    #[to(tell)]
    Tell(Subject),
    // A map over nothing must say where to go instead.
    #[to(END)]
    Nothing,
}

async fn subjects(show: &Show) -> Vec<Map> {
    let names = show.topic.split_whitespace().map(str::to_owned);
    let sent: Vec<_> = names.map(|name| Map::Tell(Subject { name })).collect();
    if sent.is_empty() { vec![Map::Nothing] } else { sent }
}

// It reads what it was sent, and may read the state next to it.
async fn tell(subject: &Subject, show: &Show) -> ShowUpdate {
    let joke = format!("Why did the {} cross “{}”?", subject.name, show.topic);
    Show::update().jokes([joke])
}

async fn choose(show: &Show) -> ShowUpdate {
    Show::update().best(show.jokes.iter().max_by_key(|joke| joke.len()).cloned())
}

#[tokio::main]
async fn main() -> Result<()> {
    let graph =
        StateGraph::<Show>::new().edge(START, subjects).edge(tell, choose).edge(choose, END).compile()?;

    let show = graph.run(Show::input("chicken dog elephant")).await?.into_state();
    println!("{}\nbest: {}", show.jokes.join("\n"), show.best.as_deref().unwrap_or("none"));
    assert_eq!(show.jokes.len(), 3);
    assert_eq!(show.best.as_ref(), show.jokes.last());

    let nothing = graph.run(Show::input("")).await?.into_state();
    assert_eq!(nothing.best, None);
    Ok(())
}
