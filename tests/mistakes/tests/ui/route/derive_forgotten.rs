use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

enum Verdict {
    Accept,
}

async fn review(_: &Ticket) -> Verdict {
    Verdict::Accept
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, review).edge(review, END);
}
