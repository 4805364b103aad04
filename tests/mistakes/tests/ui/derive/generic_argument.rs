//! An argument of a generic state that a checkpoint cannot store.

use superstep::{GraphState, StateGraph};

#[derive(GraphState, Clone)]
struct Ticket<T> {
    item: T,
}

#[derive(Clone, Default)]
struct Connection;

fn main() {
    let _ = StateGraph::<Ticket<Connection>>::new();
}
