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

#[derive(serde::Serialize, serde::Deserialize)]
struct Query(String);

async fn fetch(_: &Query) -> TicketUpdate {
    Ticket::update()
}

fn main() {
    let _graph = graph! {
        state Ticket;
        START -> draft -> fetch -> END;
    };
}
