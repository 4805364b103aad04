use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Search {
    found: u32,
}

async fn look() -> SearchUpdate {
    Search::update()
}

fn main() {
    let search = StateGraph::<Search>::new().edge(START, look).edge(look, END).compile().unwrap();
    let _ = StateGraph::<Search>::new().edge(START, search.as_node());
}
