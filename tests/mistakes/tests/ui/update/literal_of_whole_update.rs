use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    TicketUpdate { answer: Some("yes".to_owned()) }
}

fn main() {}
