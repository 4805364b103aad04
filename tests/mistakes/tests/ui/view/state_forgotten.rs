use superstep::{GraphState, StateView};

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
}

#[derive(StateView)]
struct Asked<'a> {
    question: &'a String,
}

fn main() {}
