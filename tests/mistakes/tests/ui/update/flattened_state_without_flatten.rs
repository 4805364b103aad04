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
struct Said {
    chat: ChatUpdate,
}

#[derive(StateUpdate)]
#[update(of = Ticket)]
struct Asked {
    #[update(flatten)]
    question: String,
}

fn main() {}
// mistakes: 2
