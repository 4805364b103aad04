use superstep::cache::CachePolicy;
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Page {
    url: String,
}

async fn fetch(_: &Page) -> PageUpdate {
    Page::update()
}

#[derive(GraphState, Clone, Default)]
struct Order {
    price: u32,
}

fn main() {
    let _ = StateGraph::<Page>::new()
        .edge(START, fetch)
        .edge(fetch, END)
        .cache(fetch, CachePolicy::by(|order: &Order| order.price));
}
