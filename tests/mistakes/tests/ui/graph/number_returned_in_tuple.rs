use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn count(_: &Ticket) -> usize {
    3
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, (draft, count));
}
