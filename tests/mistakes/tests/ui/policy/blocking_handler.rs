use superstep::{GraphState, NodeFailure, Result, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn count(_: &NodeFailure) -> u32 {
    3
}

fn rescue(_: &NodeFailure) -> Result<TicketUpdate> {
    Ok(Ticket::update())
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).on_error(draft, count);
    let _ = StateGraph::<Ticket>::new().edge(START, draft).default_on_error(rescue);
}
// mistakes: 2
