use crate::state::GraphState;

/// The state that a view is made from; it is asked here whether it is one.
pub fn viewed<S: GraphState>(state: &S) -> &S {
    state
}
