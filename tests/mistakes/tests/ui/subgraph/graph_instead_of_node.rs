use superstep::{Graph, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

fn build(inner: &Graph<Ticket>) {
    let _graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, inner);
}

fn main() {
    let _ = build;
}
