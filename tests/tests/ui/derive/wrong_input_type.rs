use graph_core::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
}

fn main() {
    Ticket::input(3);
}
