use graph_core::checkpoint::MemoryCheckpointer;
use graph_core::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

async fn ask(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes")
}

async fn run() -> Result<(), graph_core::Error> {
    let graph = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile()?;
    graph.with_checkpointer(MemoryCheckpointer::new()).run(Ticket::input()).await?;
    Ok(())
}

fn main() {
    let _ = run();
}
