//! A borrowed field.

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    question: &str,
}

async fn ask(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(ticket.question)
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile();
}
