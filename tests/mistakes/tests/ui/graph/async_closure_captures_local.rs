use superstep::{GraphState, START, StateGraph, named};

#[derive(GraphState, Clone, Default)]
struct Ticket {
    answer: String,
}

fn main() {
    let greeting = String::from("hello");
    let ask = async |_: &Ticket| Ticket::update().answer(greeting.as_str());
    let _ = StateGraph::<Ticket>::new().edge(START, named("ask", ask));
}
