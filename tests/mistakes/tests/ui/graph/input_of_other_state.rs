use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

#[derive(GraphState, Clone, Default)]
struct Chat {
    log: Vec<String>,
}

async fn ask(_: &Ticket) -> TicketUpdate {
    Ticket::update().answer("yes")
}

fn main() {
    let graph = StateGraph::<Ticket>::new().edge(START, ask).edge(ask, END).compile().unwrap();
    let _ = graph.run(Chat::input());
    let _ = graph.run("why?");
}
// mistakes: 2
