use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = apend)]
    notes: Vec<String>,
    #[state(reducer = mrege)]
    scores: std::collections::HashMap<String, u8>,
    #[state(reducer = nowhere)]
    count: u8,
    #[state(reducer = Nowhere)]
    sum: u8,
}

fn main() {}
// mistakes: 2
