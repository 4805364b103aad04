use superstep::GraphState;

#[derive(Clone, Default)]
struct Client;

fn connect() -> Client {
    Client
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(untracked, from_context = connect)]
    http: Client,
}

fn main() {}
