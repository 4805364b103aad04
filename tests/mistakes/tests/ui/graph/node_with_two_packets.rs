use superstep::{GraphState, StateGraph};
use serde::{Deserialize, Serialize};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(Serialize, Deserialize)]
struct Query;

#[derive(Serialize, Deserialize)]
struct Page;

async fn search(_: &Query, _: &Page) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let _ = StateGraph::<Ticket>::new().node(search);
}
