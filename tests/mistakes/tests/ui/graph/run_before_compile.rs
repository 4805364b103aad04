use superstep::{END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: Option<String>,
}

async fn draft(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes".to_owned())
}

async fn program() -> Result<()> {
    let graph = StateGraph::<Ticket>::new().edge(START, draft).edge(draft, END);
    let outcome = graph.run(Ticket::input("why?")).await?;
    println!("{:?}", outcome.state().answer);
    Ok(())
}

fn main() {
    let _ = program();
}
