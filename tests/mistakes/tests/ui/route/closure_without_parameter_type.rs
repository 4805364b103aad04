use superstep::{END, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

#[derive(Route)]
enum Verdict {
    #[to(draft)]
    Rework,
    #[to(END)]
    Accept,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).route(draft, |_ticket| Verdict::Accept);
    let _ = Verdict::Rework;
}
