use superstep::{GraphState, Overwrite};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = append)]
    notes: Vec<String>,
}

async fn forget(_: &Ticket) -> TicketUpdate {
    Ticket::update().notes(Overwrite("none"))
}

fn main() {}
