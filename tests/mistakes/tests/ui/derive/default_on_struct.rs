use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(default)]
struct Ticket {
    attempts: u32,
}

fn main() {}
