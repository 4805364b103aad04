use superstep::{ContextWith, END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

struct Clients;

async fn ask(_: &Ticket, _: &ContextWith<Clients>) -> TicketUpdate {
    Ticket::update().answer("yes")
}

async fn run() -> Result<(), superstep::Error> {
    let graph = StateGraph::<Ticket>::with_context::<Clients>().edge(START, ask).edge(ask, END).compile()?;
    graph.run(Ticket::input()).await?;
    Ok(())
}

fn main() {
    let _ = run();
}
