//! Planning: (graph, progress, how each task left) → the next tasks.
//!
//! Pure: nothing here awaits, reads a clock, or depends on which task finished first.

mod planner;
mod progress;
#[cfg(test)]
mod tests;
mod topology;

pub(crate) use planner::plan;

/// The places of START and END among those of nodes, for what is written in theirs.
pub(crate) const START_PLACE: usize = usize::MAX - 1;
pub(crate) const END_PLACE: usize = usize::MAX;

pub(crate) use progress::{Progress, Task};
pub(crate) use topology::{ExitPlan, Join, NodePlan, Target, Topology};
