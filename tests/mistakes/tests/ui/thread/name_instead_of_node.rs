use superstep::{GraphState, thread::as_node};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = as_node("draft");
}
