use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(invariant = is_paid)]
    paid: u32,
}

fn is_paid(paid: &u32) -> Result<(), &'static str> {
    if *paid > 0 { Ok(()) } else { Err("not paid") }
}

fn main() {}
