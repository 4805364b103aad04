use superstep::GraphState;

use std::collections::HashMap;

struct Opaque;
enum Own {}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(reducer = append)]
    scores: HashMap<String, u8>,
    #[state(reducer = merge)]
    maybe: Option<Vec<u8>>,
    #[state(reducer = Own)]
    own: Vec<String>,
    #[state(reducer = add)]
    text: String,
}

fn node(_: &Ticket) -> TicketUpdate {
    Ticket::update().own(3).scores(["a"]).text("b")
}

fn main() {
    superstep::StateGraph::<Ticket>::new();
}
// mistakes: 4
