use superstep::{END, GraphState, NodeFailure, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn rescue(_: &Ticket, _: &NodeFailure) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, rescue).edge(rescue, END);
}
