use superstep::{GraphState, Overwrite, StateUpdate};

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
struct Answered {
    question: u32,
    confidence: f64,
    answer: Option<u8>,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Said {
    #[update(flatten)]
    chat: u32,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Replaced {
    question: Overwrite<Vec<u8>>,
    #[update(skip_none)]
    confidence: Option<String>,
}

fn main() {}
// mistakes: 6
