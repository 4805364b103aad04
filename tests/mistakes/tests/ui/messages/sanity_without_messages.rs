use superstep::messages::messages_sanity;
use superstep::messages::sanity::{MessagesSanity, RepairTexts};
use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, messages_sanity);
    let _ = StateGraph::<Ticket>::new().edge(START, named("sanity", MessagesSanity::with(RepairTexts::default())));
}
