use superstep::{GraphState, START, StateGraph, StateView};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
}

#[derive(StateView)]
#[view(of = Ticket)]
struct Question<'a> {
    question: &'a str,
}

async fn ask(question: &Question<'_>) -> TicketUpdate {
    Ticket::update().answer(question.question)
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
