use superstep::{GraphState, graph};

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

struct Clients;

async fn count(_: &Ticket, _: &superstep::ContextWith<Clients>) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _graph = graph! {
        state Ticket;
        START -> draft -> count -> END;
    };
}
