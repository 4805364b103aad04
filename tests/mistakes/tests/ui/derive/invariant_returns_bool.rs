use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(invariant = is_paid)]
struct Ticket {
    paid: u32,
}

fn is_paid(ticket: &Ticket) -> bool {
    ticket.paid > 0
}

fn main() {}
