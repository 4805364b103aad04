use superstep::GraphState;

#[derive(Clone, Default)]
struct Chat {
    messages: Vec<String>,
}

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
    #[state(flatten)]
    chat: Chat,
}

fn node(ticket: &Ticket) -> TicketUpdate {
    Ticket::update().question(&ticket.question)
}

fn main() {}
