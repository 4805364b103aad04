use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = add)]
    paid: u32,
}

async fn pay(_: &Ticket) -> TicketUpdate {
    Ticket::update().paid(0.5)
}

fn main() {}
