use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(validate)]
    question: String,
}

fn main() {}
