use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

fn ask(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
