use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(validate(range(min = 10, max = 1)))]
    attempts: u32,
}

fn main() {}
