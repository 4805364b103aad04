use superstep::{GraphState, START, StateGraph, StateUpdate};

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
    anwser: String,
    score: f32,
    #[update(to = note)]
    said: Vec<String>,
}

async fn answer(_: &Ticket) -> Answered {
    Answered { anwser: String::new(), score: 0.5, said: Vec::new() }
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, answer);
}
// mistakes: 3
