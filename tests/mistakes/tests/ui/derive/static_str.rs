use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    status: &'static str,
}

fn main() {}
