use superstep::{GraphState, StateView};

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
}

#[derive(StateView)]
#[view(Ticket)]
struct Asked {
    question: &str,
}

fn main() {}
// mistakes: 2
