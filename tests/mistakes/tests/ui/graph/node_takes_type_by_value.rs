use superstep::{Context, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn ask(_: Ticket, _: &Context) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
