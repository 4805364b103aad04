use superstep::{GraphState, StateView};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
}

#[derive(StateView)]
#[view(of = Ticket)]
struct Question<'a> {
    qestion: &'a str,
    score: f32,
    #[view(from = answer.text)]
    text: &'a str,
}

fn main() {}
// mistakes: 3
