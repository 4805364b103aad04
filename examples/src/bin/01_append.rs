//! Two nodes in a row write the same field; its reducer appends what each of them returns.
//!
//! A node returns only what is new. It cannot misspell a field or give it the wrong type: `StateUpdate` has a method for
//! each field of `State`, and nothing else.

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
    // The function is the node: no names to keep in step.
    let graph =
        StateGraph::<State>::new().edge(START, node_a).edge(node_a, node_b).edge(node_b, END).compile()?;

    let state = graph.run(State::input()).await?.into_state();
    assert_eq!(state.aggregate, ["a", "b, after [\"a\"]"]);

    // No field is marked `input`, so every field is an optional one. It goes through the reducer like any other write.
    let state = graph.run(State::input().aggregate(["start".to_owned()])).await?.into_state();
    assert_eq!(state.aggregate.len(), 3);
    println!("{:#}", state.dump());
    Ok(())
}
