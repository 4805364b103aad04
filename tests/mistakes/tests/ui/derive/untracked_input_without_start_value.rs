use superstep::GraphState;

#[derive(Clone)]
struct Client;

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(input)]
    question: String,
    #[state(input, untracked)]
    client: Client,
}

fn main() {}
