use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Search {
    found: u32,
}

#[derive(GraphState, Clone)]
struct Report {
    notes: u32,
}

async fn look() -> SearchUpdate {
    Search::update()
}

fn main() {
    let search = StateGraph::<Search>::new().edge(START, look).edge(look, END).compile().unwrap();
    let search = search.as_node("search");
    let _ = StateGraph::<Report>::new().edge(START, &search);
}
