//! Planning: (graph, progress, the exit of each task) → the next tasks.
//!
//! It is pure: it does not await, does not read a clock, and does not depend on the order in which tasks finished.

mod planner;
mod progress;
#[cfg(test)]
mod tests;
mod topology;

pub(crate) use planner::plan;

/// The indices of START and END among those of nodes, for writes under their names.
pub(crate) const START_PLACE: usize = usize::MAX - 1;
pub(crate) const END_PLACE: usize = usize::MAX;

pub(crate) use progress::{Progress, Task};
pub(crate) use topology::{ExitPlan, Join, NodePlan, Target, Topology};
