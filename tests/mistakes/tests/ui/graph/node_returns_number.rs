use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn count(_: &Ticket) -> i32 {
    3
}

async fn try_to_count(_: &Ticket) -> superstep::Result<i32> {
    Ok(3)
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, count).edge(count, try_to_count);
}
// mistakes: 3
