use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input output)]
    question: String,
}

fn main() {}
