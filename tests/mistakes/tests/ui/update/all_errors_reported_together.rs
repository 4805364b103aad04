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
#[update(off = Ticket, to = answer)]
struct Answered {
    #[update(too = answer)]
    answer: String,
    #[update(of = Ticket)]
    confidence: f32,
    #[update(to = chat.log)]
    log: Vec<String>,
    #[update(skip_none)]
    notes: Vec<String>,
    #[update(to = notes, to = notes)]
    more: Vec<String>,
    #[update(flatten = true)]
    chat: ChatUpdate,
}

// The use of the broken update causes no second error.
async fn answer(_: &Ticket) -> Answered {
    todo!()
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, answer);
}
// mistakes: 10
