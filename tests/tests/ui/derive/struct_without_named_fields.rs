use graph_core::GraphState;

#[derive(GraphState, Clone)]
struct Ticket(String);

#[derive(GraphState, Clone)]
struct Nothing;

#[derive(GraphState, Clone)]
enum Either {
    One,
}

fn main() {
    let _ = (Ticket(String::new()).0, Nothing, Either::One);
}
