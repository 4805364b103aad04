use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
    best: String,
}

async fn choose(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().best(&ticket.answer)
}

fn main() {}
