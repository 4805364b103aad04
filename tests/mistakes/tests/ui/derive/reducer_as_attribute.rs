use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(append)]
    notes: Vec<String>,
}

fn main() {}
