use superstep::{END, GraphState, Route, graph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

async fn send(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

#[derive(Route)]
enum Verdict {
    #[to(draft)]
    Rework,
    #[to(END)]
    Accept,
}

async fn review(ticket: &Ticket) -> Verdict {
    if ticket.answer.is_some() { Verdict::Accept } else { Verdict::Rework }
}

fn main() {
    let _graph = graph! {
        state Ticket;
        START -> draft -> review -> draft | END;
    };
}
