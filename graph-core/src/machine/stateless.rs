use crate::GraphState;

/// The state of a machine that has none.
#[derive(GraphState, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[state(crate = crate)]
pub struct Stateless {}
