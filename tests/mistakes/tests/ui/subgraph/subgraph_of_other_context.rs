use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Report {
    notes: u32,
}

struct App;

async fn look() -> ReportUpdate {
    Report::update()
}

fn main() {
    let search = StateGraph::<Report>::new().edge(START, look).edge(look, END).compile().unwrap();
    let search = search.as_node("search");
    let _ = StateGraph::<Report>::with_context::<App>().edge(START, &search);
}
