//! A field without a type.

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
    answer: ,
}

async fn ask(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(ticket.question.clone()).answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile();
}
