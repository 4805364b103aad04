use superstep::GraphState;

fn port(_: &u16) -> u16 {
    80
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(from_context = port)]
    port: u16,
}

fn main() {}
