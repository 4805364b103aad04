use superstep::{GraphState, StateUpdate};

#[derive(GraphState, Clone, Default)]
struct Chat {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(GraphState, Clone, Default)]
struct Ticket {
    question: String,
    confidence: f32,
    answer: Option<String>,
    #[state(reducer = append)]
    notes: Vec<String>,
    #[state(flatten)]
    chat: Chat,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Answered(String);

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Nothing;

#[derive(StateUpdate)]
#[update(of = Ticket)]
enum Either {
    One,
}

fn main() {
    let _ = (Answered(String::new()).0, Nothing, Either::One);
}
// mistakes: 3
