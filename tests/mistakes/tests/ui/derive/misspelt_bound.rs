use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input, validate(length(minimum = 1)))]
    question: String,
}

fn main() {}
