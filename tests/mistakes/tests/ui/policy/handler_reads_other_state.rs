use superstep::{END, GraphState, NodeFailure, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone, Default)]
struct Order {
    price: u32,
}

async fn answer(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn rescue(_: &Order, _: &NodeFailure) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, answer).edge(answer, END).on_error(answer, rescue);
}
