use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Count {
    total: u32,
}

async fn add(count: &Count, previous: Option<&u32>) -> CountUpdate {
    Count::update().total(count.total + previous.copied().unwrap_or(1))
}

fn main() {
    let _ = StateGraph::<Count>::new().edge(START, add);
}
