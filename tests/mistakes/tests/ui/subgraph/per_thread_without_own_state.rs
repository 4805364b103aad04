use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Report {
    notes: u32,
}

async fn look() -> ReportUpdate {
    Report::update()
}

fn main() {
    let search = StateGraph::<Report>::new().edge(START, look).edge(look, END).compile().unwrap();
    let _ = search.as_node("search").per_thread();
}
