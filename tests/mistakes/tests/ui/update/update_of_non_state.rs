use superstep::{GraphState, START, StateGraph, StateUpdate};

struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone)]
struct Order {
    answer: String,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered {
    answer: String,
}

async fn answer(_: &Order) -> Answered {
    Answered { answer: Ticket { answer: String::new() }.answer }
}

fn main() {
    let _ = StateGraph::<Order>::new().edge(START, answer);
}
