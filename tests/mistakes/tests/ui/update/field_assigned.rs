use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(ticket: &Ticket) {
    ticket.answer = Some("yes".to_owned());
}

fn main() {}
