use superstep::{END, GraphState, NodeFailure, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn answer(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn rescue(_: &NodeFailure) -> u32 {
    3
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, answer).edge(answer, END).on_error(answer, rescue);
}
