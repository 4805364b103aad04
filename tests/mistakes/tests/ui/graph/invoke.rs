use superstep::{Graph, GraphState, Result};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

async fn program(graph: Graph<Ticket>) -> Result<()> {
    graph.invoke(Ticket::input("why?")).await?;
    Ok(())
}

fn main() {
    let _ = (program, draft);
}
