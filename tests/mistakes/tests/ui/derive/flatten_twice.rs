use superstep::GraphState;

#[derive(GraphState, Clone)]
struct Chat {}

#[derive(GraphState, Clone)]
struct Ticket<T: GraphState> {
    #[state(flatten)]
    chat: Chat,
    #[state(flatten)]
    other: Chat,
    #[state(flatten)]
    any: T,
}

fn main() {}
// mistakes: 2
