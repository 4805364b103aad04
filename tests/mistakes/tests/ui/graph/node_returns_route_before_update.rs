//! A node that returns its route before its update.

use superstep::{END, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(Route)]
enum Verdict {
    #[to(END)]
    Accept,
}

async fn review(_: &Ticket) -> (Verdict, TicketUpdate) {
    (Verdict::Accept, Ticket::update().answer("yes"))
}

async fn try_review(_: &Ticket) -> superstep::Result<(Verdict, TicketUpdate)> {
    Ok((Verdict::Accept, Ticket::update().answer("yes")))
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, review);
    let _ = StateGraph::<Ticket>::new().edge(START, try_review);
}
