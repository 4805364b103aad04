use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

fn main() {
    let _ = StateGraph::<Ticket>::new()
        .edge(START, named("draft", |_ticket| async move { Ticket::update().answer("yes".to_owned()) }));
}
