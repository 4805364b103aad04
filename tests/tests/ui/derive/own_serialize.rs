use graph_core::GraphState;

#[derive(GraphState, Clone, serde::Serialize)]
struct Ticket {
    #[state(exclude)]
    secret: String,
}

fn main() {}
