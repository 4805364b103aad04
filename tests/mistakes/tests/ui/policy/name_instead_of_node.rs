use superstep::{GraphState, START, StateGraph, policy::Policy};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).policy("draft", Policy::new());
}
