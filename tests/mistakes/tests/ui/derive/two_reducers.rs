use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = append, reducer = union)]
    notes: Vec<String>,
}

fn main() {}
