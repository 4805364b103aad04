use graph_core::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    #[state(reducer = append)]
    notes: Vec<String>,
    count: u32,
    answer: Option<String>,
}

fn main() {
    let _ = Ticket::input();
}
