use superstep::cache::CachePolicy;
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Page {
    url: String,
}

async fn fetch(_: &Page) -> PageUpdate {
    Page::update()
}

use superstep::ContextWith;

struct Tenant(u32);

fn main() {
    let _ = StateGraph::<Page>::new()
        .edge(START, fetch)
        .edge(fetch, END)
        .cache(fetch, CachePolicy::by(|cx: &ContextWith<Tenant>| cx.context().0));
}
