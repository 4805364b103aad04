use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    #[state(input)]
    user: u64,
}

fn main() {
    Ticket::input("why?");
}
