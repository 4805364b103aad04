use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input = true)]
    question: String,
}

fn main() {}
