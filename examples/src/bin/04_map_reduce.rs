//! Shows map-reduce: a fan-out to one task for each item, all in one superstep.
//! Run with `cargo run -p examples --bin 04_map_reduce`.
//!
//! A route variant with a value sends the value as a packet. A node that reads `&Subject` runs once for each `Subject`.

use serde::{Deserialize, Serialize};
use superstep::{END, GraphState, Result, Route, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct Show {
    #[state(input)]
    topic: String,
    /// Many tasks of one superstep write this field. The values are appended in the order of the packets.
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
    // The route for an empty list.
    #[to(END)]
    Nothing,
}

async fn subjects(show: &Show) -> Vec<Map> {
    let names = show.topic.split_whitespace().map(str::to_owned);
    let packets: Vec<_> = names.map(|name| Map::Tell(Subject { name })).collect();
    if packets.is_empty() { vec![Map::Nothing] } else { packets }
}

// The node reads its packet, and optionally the state.
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
