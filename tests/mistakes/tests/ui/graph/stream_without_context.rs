use superstep::{Graph, GraphState};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

fn program(graph: Graph<Ticket, Office>) {
    let _events = graph.stream(Ticket::input("why?"));
}

fn main() {
    let _ = (program, draft, Office);
}
