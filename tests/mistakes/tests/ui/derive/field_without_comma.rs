//! A syntax error in the struct. The derive reads the other fields, so that their setters exist.

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    question: String
    #[state(reducer = append)]
    notes: Vec<String>,
}

async fn ask(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(ticket.question.clone()).notes(["asked".to_owned()])
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile();
}
