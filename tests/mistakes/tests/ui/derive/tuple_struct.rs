use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket(String, u8);

fn main() {}
