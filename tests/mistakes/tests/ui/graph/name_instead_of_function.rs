use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, "ask");
}
