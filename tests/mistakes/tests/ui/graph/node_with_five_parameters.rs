use superstep::{Context, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket, _: &Context, _: &Context, _: &Context, _: &Context) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _graph = StateGraph::<Ticket>::new().edge(START, draft);
}
