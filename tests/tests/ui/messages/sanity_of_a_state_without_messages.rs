use graph_core::messages::messages_sanity;
use graph_core::messages::sanity::{MessagesSanity, Texts};
use graph_core::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, messages_sanity);
    let _ = StateGraph::<Ticket>::new().edge(START, named("sanity", MessagesSanity::with(Texts::default())));
}
