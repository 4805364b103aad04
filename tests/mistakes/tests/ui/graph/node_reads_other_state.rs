use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone, Default)]
struct Chat {
    log: Vec<String>,
}

async fn ask(_: &Chat) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
