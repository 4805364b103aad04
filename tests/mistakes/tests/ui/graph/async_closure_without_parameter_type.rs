use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

fn main() {
    let draft = named("draft", async |ticket| Ticket::update().answer(ticket.answer.clone()));
    let _ = StateGraph::<Ticket>::new().edge(START, draft);
}
