use superstep::{GraphState, StateView};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

#[derive(StateView)]
#[view(Ticket)]
struct Answered<'a> {
    answer: &'a Option<String>,
}

fn main() {}
