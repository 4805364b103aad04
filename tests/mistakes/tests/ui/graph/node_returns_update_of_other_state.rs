use superstep::{GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone, Default)]
struct Chat {
    log: Vec<String>,
}

async fn ask(_: &Ticket) -> ChatUpdate {
    Chat::update().log(vec![])
}

fn main() {
    let _ = StateGraph::<Ticket>::new().edge(START, ask);
}
