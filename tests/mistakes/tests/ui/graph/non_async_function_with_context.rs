use superstep::{Context, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

fn work(_: &Ticket, _: &Context) -> Result<TicketUpdate> {
    Ok(Ticket::update())
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, work);
}
