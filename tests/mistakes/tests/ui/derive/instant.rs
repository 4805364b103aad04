use std::time::Instant;

use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    created: Instant,
}

fn main() {}
