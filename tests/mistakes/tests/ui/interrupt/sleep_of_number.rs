use superstep::{Context, GraphState};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn wait(_: &Ticket, cx: &Context) {
    cx.sleep(60).await;
}

fn main() {}
