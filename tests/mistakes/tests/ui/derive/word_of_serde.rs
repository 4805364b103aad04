use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(skip)]
    account: u64,
}

fn main() {}
