use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn start() -> superstep::Result<()> {
    let graph = StateGraph::<Ticket>::new().edge(START, draft).compile()?;
    graph.run(r#"{"question": "why?"}"#).await?;
    Ok(())
}

fn main() {}
