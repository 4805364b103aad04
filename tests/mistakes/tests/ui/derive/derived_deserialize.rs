use superstep::GraphState;

#[derive(GraphState, Clone, serde::Deserialize)]
struct Ticket {
    question: String,
}

fn main() {}
