use superstep::{Graph, GraphState, Result};

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

fn program(graph: Graph<Ticket, Office>) -> Result<()> {
    let _stepper = graph.run(Ticket::input("why?")).start()?;
    Ok(())
}

fn main() {
    let _ = (program, draft, Office);
}
