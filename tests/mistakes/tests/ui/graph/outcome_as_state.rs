use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update()
}

async fn start() -> superstep::Result<Option<String>> {
    let graph = StateGraph::<Ticket>::new().edge(START, draft).compile()?;
    let outcome = graph.run(Ticket::input()).await?;
    Ok(outcome.answer.clone())
}

fn main() {}
