use superstep::GraphState;

fn no_reference(_: Vec<u8>, _: Vec<u8>) {}

fn other_type(_: &mut Vec<u8>, _: u8) {}

fn returns(_: &mut Vec<u8>, more: Vec<u8>) -> Vec<u8> {
    more
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = no_reference)]
    a: Vec<u8>,
    #[state(reducer = other_type)]
    b: Vec<u8>,
    #[state(reducer = returns)]
    c: Vec<u8>,
}

fn main() {}
// mistakes: 3
