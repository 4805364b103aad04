use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    answer: String,
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(
        START,
        named("draft", |ticket: &Ticket| async move { Ticket::update().answer(ticket.question.clone()) }),
    );
}
