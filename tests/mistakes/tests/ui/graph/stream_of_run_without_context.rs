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
    let _events = graph.run(Ticket::input("why?")).stream();
}

fn main() {
    let _ = (program, draft, Office);
}
