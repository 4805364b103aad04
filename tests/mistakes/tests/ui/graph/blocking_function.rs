use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

fn read(ticket: &Ticket) -> String {
    ticket.answer.clone()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, read);
    let _ = StateGraph::<Ticket>::new().edge(START, named("draft", "draft"));
}
// mistakes: 2
