use superstep::GraphState;

trait Model: Send + Sync {}

#[derive(GraphState, Clone)]
struct Ticket {
    model: std::sync::Arc<dyn Model>,
}

fn main() {}
