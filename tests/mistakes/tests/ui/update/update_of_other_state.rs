use superstep::{GraphState, START, StateGraph, StateUpdate};

#[derive(GraphState, Clone, Default)]
struct Chat {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(flatten)]
    chat: Chat,
}

#[derive(GraphState, Clone)]
struct Order {
    price: u32,
}

#[derive(StateUpdate)]
#[update(of = Order)]
struct Priced {
    price: u32,
}

async fn answer(_: &Ticket) -> Priced {
    Priced { price: 3 }
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, answer);
}
