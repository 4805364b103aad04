use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket<'a, T> {
    question: &'a str,
    item: T,
}

fn main() {}
