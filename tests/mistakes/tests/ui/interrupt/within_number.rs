use serde::{Deserialize, Serialize};
use superstep::interrupt::Question;
use superstep::{Context, GraphState};

#[derive(GraphState, Clone)]
struct Ticket {
    approved: bool,
}

#[derive(Serialize, Deserialize)]
struct Approve;

impl Question for Approve {
    type Answer = bool;
}

async fn review(_: &Ticket, cx: &Context) -> TicketUpdate {
    let approved = cx.interrupt(Approve).within(3600).await.unwrap_or_default();
    Ticket::update().approved(approved)
}

fn main() {}
