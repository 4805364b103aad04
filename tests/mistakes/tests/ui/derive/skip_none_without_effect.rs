use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Part {}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(skip_none)]
    a: u8,
    #[state(skip_none, exclude)]
    b: Option<u8>,
    #[state(skip_none, untracked)]
    c: Option<u8>,
    #[state(flatten, skip_none)]
    d: Part,
    #[state(skip_none = true)]
    e: Option<u8>,
}

#[derive(GraphState, Clone)]
#[state(skip_none)]
struct Order {
    #[state(skip_none)]
    a: Option<u8>,
}

#[derive(GraphState, Clone)]
#[state(skip_none)]
struct Call {
    a: u8,
    #[state(exclude)]
    b: Option<u8>,
}

fn main() {}
// mistakes: 7
