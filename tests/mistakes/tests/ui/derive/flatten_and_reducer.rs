use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Audit {
    #[state(reducer = append)]
    log: Vec<String>,
}

#[derive(GraphState, Clone)]
struct Ticket {
    #[state(flatten, reducer = append)]
    audit: Audit,
}

fn main() {}
