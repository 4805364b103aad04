use superstep::{GraphState, StateUpdate};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

#[derive(StateUpdate)]
#[update(Ticket)]
struct Answered {
    answer: Option<String>,
}

fn main() {}
