use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = |notes: &mut Vec<String>, new| notes.extend(new))]
    notes: Vec<String>,
}

fn main() {}
