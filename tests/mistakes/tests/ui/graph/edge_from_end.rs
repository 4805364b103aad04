use superstep::{END, GraphState, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn ask(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(END, ask);
}
