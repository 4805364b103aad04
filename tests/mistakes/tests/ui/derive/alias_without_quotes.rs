use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(alias = remarks)]
    notes: Vec<String>,
}

fn main() {}
