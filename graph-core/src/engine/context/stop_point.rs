use std::collections::BTreeMap;
use std::time::SystemTime;

/// A stop on the way: at breakpoints, at open interrupts of suspended tasks, at a sleep, or by request.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopPoint {
    /// The planned nodes with a breakpoint before them.
    pub(crate) before: Vec<String>,
    /// The nodes of the last superstep with a breakpoint after them.
    pub(crate) after: Vec<String>,
    /// `true` if the run was asked to stop.
    pub(crate) requested: bool,
    /// The earliest time at which a sleeping task wakes.
    pub(crate) wakes_at: Option<SystemTime>,
    /// By task id, the numbers of supersteps that the stopped subgraph calls have applied: see
    /// [`ReportedStops`](super::reported_stops::ReportedStops).
    pub(crate) calls: BTreeMap<String, u64>,
}

impl StopPoint {
    /// Converts the stop of a subgraph run inside a task of `node` into a stop of the parent run.
    pub(crate) fn in_parent_run(&self, node: &str) -> Self {
        let inside = |nodes: &[String]| nodes.iter().map(|inner| format!("{node}/{inner}")).collect();
        let calls = self.calls.clone();
        Self { before: inside(&self.before), after: inside(&self.after), calls, ..*self }
    }

    /// Merges another stop of the same run.
    pub(crate) fn add(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
        self.calls.extend(other.calls);
        self.requested |= other.requested;
        self.wakes_at = self.wakes_at.into_iter().chain(other.wakes_at).min();
    }
}
