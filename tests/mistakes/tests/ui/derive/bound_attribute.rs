//! The bounds of a generic state.

use superstep::GraphState;

#[derive(GraphState, Clone)]
#[state(bound = "T: Clone")]
struct Quoted<T> {
    item: T,
}

#[derive(GraphState, Clone)]
#[state(bound(T Clone))]
struct NoColon<T> {
    item: T,
}

#[derive(GraphState, Clone)]
#[serde(bound = "T: Clone")]
struct OfSerde<T> {
    item: T,
}

#[derive(GraphState, Clone)]
struct OnField<T> {
    #[state(bound(T: Clone))]
    item: T,
}

fn main() {}
// mistakes: 4
