use superstep::GraphState;

mod seconds {}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(with = seconds)]
    timeout: std::time::Duration,
}

fn main() {}
// mistakes: 2
