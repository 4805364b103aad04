use std::rc::Rc;

use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn ask(_: &Ticket) -> TicketUpdate {
    let answer = Rc::new("yes");
    std::future::ready(()).await;
    Ticket::update().answer(*answer)
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
