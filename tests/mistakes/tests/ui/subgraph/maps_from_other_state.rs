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
    let search = search.as_node("search").mapped(
        |search: &Search| Search::input(search.question.clone()),
        |_| Report::update().notes(1_u32),
    );
    let _ = StateGraph::<Report>::new().edge(START, &search);
}
