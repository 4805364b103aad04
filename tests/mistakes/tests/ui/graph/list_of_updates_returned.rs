use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn draft_all(_: &Ticket) -> Vec<TicketUpdate> {
    vec![Ticket::update()]
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft_all);
}
