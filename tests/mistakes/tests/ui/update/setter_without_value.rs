use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer()
}

fn main() {}
