use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Chat {
    #[state(reducer = add_messages)]
    messages: Vec<String>,
}

fn main() {}
