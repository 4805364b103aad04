use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn review(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, [draft, draft]).join(vec![draft, draft], review);
}
// mistakes: 2
