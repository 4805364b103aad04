use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
}

fn main() {}
