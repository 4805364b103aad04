use superstep::{GraphState, StateView};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
}

#[derive(StateView)]
#[view(of = Ticket)]
struct Question<'a>(&'a str);

#[derive(StateView)]
#[view(of = Ticket)]
enum Either {
    One,
}

fn main() {
    let _ = (Question("why?").0, Either::One);
}
// mistakes: 2
