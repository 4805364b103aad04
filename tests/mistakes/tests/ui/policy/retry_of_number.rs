use superstep::policy::Policy;
use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, draft).policy(draft, Policy::new().retry(3));
}
