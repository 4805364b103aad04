use superstep::GraphState;

#[derive(GraphState, Clone)]
enum Ticket {
    Open,
    Closed(u8),
}

fn main() {}
