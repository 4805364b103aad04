use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(takes = u8)]
    a: u8,
    #[state(reducer = add, takes = u8)]
    b: u8,
}

fn main() {}
// mistakes: 2
