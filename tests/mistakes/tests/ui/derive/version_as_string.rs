use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(version = "2")]
struct Ticket {
    question: String,
}

fn main() {}
