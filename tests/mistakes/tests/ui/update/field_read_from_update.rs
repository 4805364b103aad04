use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

fn is_answered(update: &TicketUpdate) -> bool {
    update.answer.is_some()
}

fn main() {}
