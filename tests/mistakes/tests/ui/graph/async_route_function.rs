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
    Again,
    #[to(END)]
    Accept,
}

async fn decide(_: &Ticket) -> Verdict {
    Verdict::Again
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).route(draft, decide);
    let _ = Verdict::Accept;
}
