use superstep::{GraphState, NodeFailure, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn typed() {
    let _ = StateGraph::<Ticket>::new().edge(START, |_: &Ticket| async { Ticket::update() });
}

fn blocking() {
    let _ = StateGraph::<Ticket>::new().edge(START, named("draft", |_: &Ticket| Ticket::update()));
}

fn handler() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).on_error(draft, |failure| Ticket::update());
    let _ = StateGraph::<Ticket>::new().edge(START, draft).on_error(draft, |_: &NodeFailure| Ticket::update());
}

fn main() {}
// mistakes: 3
