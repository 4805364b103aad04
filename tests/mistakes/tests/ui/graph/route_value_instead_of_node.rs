use superstep::{END, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

#[derive(Route)]
enum Next {
    #[to(draft)]
    Draft,
    #[to(END)]
    Done,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, Next::Draft);
}
