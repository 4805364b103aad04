use superstep::cache::CachePolicy;
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Page {
    url: String,
}

async fn fetch(_: &Page) -> PageUpdate {
    Page::update()
}

fn main() {
    let _ = StateGraph::<Page>::new()
        .edge(START, fetch)
        .edge(fetch, END)
        .cache(END, CachePolicy::by(|page: &Page| page.url.clone()));
}
