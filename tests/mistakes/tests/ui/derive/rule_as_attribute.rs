use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(range(min = 1))]
    attempts: u32,
}

fn main() {}
