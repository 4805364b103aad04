use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(validate(custom(is_even)))]
    paid: u32,
}

fn is_even(paid: &u32) -> bool {
    paid % 2 == 0
}

fn main() {}
