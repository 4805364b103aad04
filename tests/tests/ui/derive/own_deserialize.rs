use graph_core::GraphState;

#[derive(GraphState, Clone, serde::Deserialize)]
struct Ticket {
    question: String,
}

fn main() {}
