//! JSON names that collide with those of a flattened state.

use superstep::{END, GraphState, START, StateGraph};

#[derive(GraphState, Clone)]
struct Chat {
    log: Vec<String>,
}

#[derive(GraphState, Clone)]
struct Ticket {
    log: u32,
    #[state(flatten)]
    chat: Chat,
}

async fn node(_: &Ticket) {}

#[test]
fn duplicate_flattened_name_is_a_wiring_error() {
    let error = StateGraph::<Ticket>::new().edge(START, node).edge(node, END).compile().unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph `Ticket`: cannot be built, it has 1 mistake\n  two fields of the state are called `log` in JSON: \
         `rename` one of them, in the struct that declares it"
    );
}
