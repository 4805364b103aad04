use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    question: String,
}

fn main() {
    Ticket::update().qestion("why?");
    let _ = Ticket::QESTION;
}
// mistakes: 2
