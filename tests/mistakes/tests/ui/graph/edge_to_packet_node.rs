use superstep::{GraphState, START, StateGraph};
use serde::{Deserialize, Serialize};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(Serialize, Deserialize)]
struct Query;

async fn search(_: &Ticket, _: &Query) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, search);
}
