use superstep::GraphState;

use std::net::IpAddr;

#[derive(GraphState, Clone)]
struct Ticket {
    address: IpAddr,
    #[state(input)]
    given: IpAddr,
    #[state(untracked)]
    client: std::num::NonZero<u8>,
}

fn main() {
    Ticket::input(IpAddr::from([127, 0, 0, 1]));
}
// mistakes: 2
