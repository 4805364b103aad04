use graph_core::GraphState;

#[derive(GraphState, Clone)]
struct Ticket;

fn main() {}
