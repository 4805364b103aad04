use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, named("draft", async |_, _| Ticket::update()));
}
