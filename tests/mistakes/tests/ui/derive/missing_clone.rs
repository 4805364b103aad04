//! A state without `Clone`.

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState)]
struct Ticket {
    question: String,
}

async fn ask(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(ticket.question.clone())
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile();
}
