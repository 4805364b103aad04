use superstep::cache::Cached;
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Page {
    url: String,
}

async fn fetch(_: &Page) -> PageUpdate {
    Page::update()
}

use superstep::Ctx;

struct Tenant(u32);

fn main() {
    let _ = StateGraph::<Page>::new()
        .edge(START, fetch)
        .edge(fetch, END)
        .cache(fetch, Cached::by(|cx: &Ctx<Tenant>| cx.context().0));
}
