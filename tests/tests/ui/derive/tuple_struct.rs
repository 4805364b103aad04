use graph_core::GraphState;

#[derive(GraphState, Clone)]
struct Ticket(String, u8);

fn main() {}
