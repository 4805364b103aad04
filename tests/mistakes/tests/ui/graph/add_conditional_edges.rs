use superstep::{END, GraphState, Route, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

#[derive(Route)]
enum Verdict {
    #[to(draft)]
    Again,
    #[to(END)]
    Accept,
}

fn choose(ticket: &Ticket) -> Verdict {
    if ticket.answer.is_some() { Verdict::Accept } else { Verdict::Again }
}

fn main() {
    let _graph = StateGraph::<Ticket>::new().edge(START, draft).add_conditional_edges(draft, choose);
}
