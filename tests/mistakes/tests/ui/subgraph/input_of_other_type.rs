use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Search {
    #[state(input)]
    question: String,
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
    let _ = search.as_node("search").mapped(|report: &Report| report.notes, |_| Report::update());
}
