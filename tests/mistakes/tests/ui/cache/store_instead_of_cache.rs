use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Page {
    url: String,
}

async fn fetch(_: &Page) -> PageUpdate {
    Page::update()
}

use superstep::store::MemoryStore;

fn main() {
    let graph = StateGraph::<Page>::new().edge(START, fetch).edge(fetch, END).compile().unwrap();
    let _ = graph.with_cache(MemoryStore::new());
}
