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
    question: &'a [u8],
    confidence: f64,
    answer: Option<&'a Vec<u8>>,
}

#[derive(StateView)]
#[view(of = Ticket)]
struct Optional<'a> {
    question: Option<&'a str>,
}

fn main() {}
// mistakes: 4
