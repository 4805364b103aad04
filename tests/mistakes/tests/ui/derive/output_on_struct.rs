use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(output)]
struct Ticket {
    question: String,
}

fn main() {}
