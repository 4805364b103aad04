use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(ticket: &Ticket) -> TicketUpdate {
    ticket.update().answer("yes")
}

fn main() {}
