//! Shows a reducer: two nodes write the same field, and `append` keeps both values.
//! Run with `cargo run -p examples --bin 01_append`.
//!
//! A node returns only the new values. `StateUpdate` has one method for each field of `State`, so a misspelt field or a wrong type
//! does not compile.

use superstep::{END, GraphState, Result, START, StateGraph};

#[derive(GraphState, Clone, Debug)]
struct State {
    #[state(reducer = append)]
    aggregate: Vec<String>,
}

async fn node_a(_: &State) -> StateUpdate {
    State::update().aggregate(["a".to_owned()])
}

async fn node_b(state: &State) -> StateUpdate {
    State::update().aggregate([format!("b, after {:?}", state.aggregate)])
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    // The function itself identifies the node.
    let graph =
        StateGraph::<State>::new().edge(START, node_a).edge(node_a, node_b).edge(node_b, END).compile()?;

    let state = graph.run(State::input()).await?.into_state();
    assert_eq!(state.aggregate, ["a", "b, after [\"a\"]"]);

    // No field is marked `input`, so each field is an optional input. The reducer applies to the input, too.
    let state = graph.run(State::input().aggregate(["start".to_owned()])).await?.into_state();
    assert_eq!(state.aggregate.len(), 3);
    println!("{:#}", state.dump());
    Ok(())
}
