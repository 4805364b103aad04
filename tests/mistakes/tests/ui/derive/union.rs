use superstep::GraphState;

#[derive(GraphState, Clone, Copy)]
union Ticket {
    a: u8,
    b: i8,
}

fn main() {}
