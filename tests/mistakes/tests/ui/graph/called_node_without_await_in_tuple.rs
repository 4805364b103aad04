use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let ticket = Ticket::default();
    let _ = StateGraph::<Ticket>::new().edge(START, (draft, draft(&ticket)));
}
