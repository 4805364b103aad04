use superstep::{GraphState, START, StateGraph, StateView};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
}

#[derive(StateView)]
#[view(off = Ticket)]
struct Question<'a, 'b> {
    #[view(form = question)]
    question: &'a str,
    #[view(of = Ticket)]
    answer: &'b Option<String>,
    #[view(from = answer.as_ref())]
    text: Vec<&'a str>,
    #[view(from = confidence, from = confidence)]
    confidence: f32,
}

// The use of the broken view causes no second error.
async fn ask(question: Question<'_, '_>) -> TicketUpdate {
    Ticket::update().answer(question.question)
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
// mistakes: 8
