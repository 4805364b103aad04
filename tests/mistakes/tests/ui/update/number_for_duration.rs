use std::time::Duration;

use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = add)]
    spent: Duration,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().spent(5)
}

fn main() {}
