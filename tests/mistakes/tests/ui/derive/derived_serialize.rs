use superstep::GraphState;

#[derive(GraphState, Clone, serde::Serialize)]
struct Ticket {
    #[state(exclude)]
    secret: String,
}

fn main() {}
