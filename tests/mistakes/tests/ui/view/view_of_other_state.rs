use superstep::{GraphState, START, StateGraph, StateView};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
}

#[derive(GraphState, Clone, Default)]
struct Chat {
    log: Vec<String>,
}

#[derive(StateView)]
#[view(of = Chat)]
struct Log<'a> {
    log: &'a [String],
}

async fn ask(log: Log<'_>) -> TicketUpdate {
    Ticket::update().answer(log.log.join(" "))
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
