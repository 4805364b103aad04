use superstep::{ContextWith, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

struct Clients;

async fn ask(_: &Ticket, _: &ContextWith<Clients>) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
    let _ = StateGraph::<Ticket>::with_context::<String>().edge(START, ask);
}
