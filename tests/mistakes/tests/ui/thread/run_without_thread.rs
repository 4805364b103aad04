use superstep::checkpoint::MemoryCheckpointer;
use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn ask(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes")
}

async fn run() -> Result<(), superstep::Error> {
    let graph = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile()?;
    graph.with_checkpointer(MemoryCheckpointer::new()).run(Ticket::input()).await?;
    Ok(())
}

fn main() {
    let _ = run();
}
