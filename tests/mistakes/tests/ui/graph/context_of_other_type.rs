use superstep::{Graph, GraphState, Result};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

struct Office;
struct Shop;

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

async fn program(graph: Graph<Ticket, Office>) -> Result<()> {
    graph.run(Ticket::input("why?")).context(Shop).await?;
    Ok(())
}

fn main() {
    let _ = (program, draft, Office);
}
