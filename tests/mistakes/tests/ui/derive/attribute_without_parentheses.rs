use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state = "input"]
    question: String,
}

fn main() {}
