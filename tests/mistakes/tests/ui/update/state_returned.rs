use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(ticket: &Ticket) -> Ticket {
    Ticket { answer: Some("yes".to_owned()), ..ticket.clone() }
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft);
}
