use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(rename_all = "camelcase")]
struct Ticket {
    question: String,
}

fn main() {}
