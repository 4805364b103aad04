use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, GraphState};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

async fn review(_: &Ticket, cx: &Context) -> TicketUpdate {
    if cx.interrupt(Approve) { Ticket::update().answer("yes") } else { Ticket::update() }
}

fn main() {}
