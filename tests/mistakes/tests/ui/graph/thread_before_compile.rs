use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

fn main() {
    let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END);
    let _thread = graph.thread("ticket-17");
}
