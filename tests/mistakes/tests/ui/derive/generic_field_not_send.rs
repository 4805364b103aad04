//! A field that no argument of a generic state makes `Send`, and a reducer without its bound.

use std::rc::Rc;

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket<T> {
    item: T,
    shared: Rc<T>,
    #[state(reducer = max)]
    most: T,
}

async fn ask(ticket: &Ticket<u8>) -> TicketUpdate<u8> {
    Ticket::update().item(ticket.item).shared(ticket.shared.clone()).most(3)
}

fn main() {
    let _ = StateGraph::<Ticket<u8>>::new().edge(START, ask).edge(ask, END).compile();
}
// mistakes: 2
