use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn ask(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn decide(ticket: &Ticket) -> bool {
    ticket.answer.is_empty()
}

async fn decide_later(_: &Ticket) -> bool {
    true
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask).route(ask, decide).route(ask, decide_later).route(ask, END);
}
// mistakes: 3
