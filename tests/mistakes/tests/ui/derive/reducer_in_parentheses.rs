use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer(append))]
    notes: Vec<String>,
}

fn main() {}
