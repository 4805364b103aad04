use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn start() -> superstep::Result<()> {
    let graph = StateGraph::<Ticket>::new().edge(START, draft).compile()?;
    let graph = graph.with_checkpointer(superstep::checkpoint::MemoryCheckpointer::new());
    graph.thread("a").run(Ticket::input()).durability("sync").await?;
    Ok(())
}

fn main() {}
