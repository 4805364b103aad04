use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn route() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).route(draft, |ticket| ticket.answer.is_empty());
}

fn main() {}
