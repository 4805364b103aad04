use crate::GraphState;

/// The state of a machine without a state.
#[derive(GraphState, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[state(crate = crate)]
pub struct Stateless {}
