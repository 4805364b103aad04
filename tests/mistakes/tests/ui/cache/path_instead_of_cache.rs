use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let graph = StateGraph::<Ticket>::new().edge(START, draft).compile().unwrap();
    let _ = graph.with_cache("results.db");
}
