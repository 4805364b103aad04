use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket;

fn main() {}
