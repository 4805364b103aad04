use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(default = "three")]
    attempts: u32,
}

fn main() {}
