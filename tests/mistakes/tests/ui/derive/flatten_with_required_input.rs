use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Account {
    #[state(input)]
    user: String,
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(flatten)]
    account: Account,
}

fn main() {}
