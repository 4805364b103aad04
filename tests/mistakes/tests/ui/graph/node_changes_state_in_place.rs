use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(ticket: &mut Ticket) -> TicketUpdate {
    ticket.answer = Some("yes".to_owned());
    Ticket::update()
}

fn main() {
    let _graph = StateGraph::<Ticket>::new().edge(START, draft);
}
