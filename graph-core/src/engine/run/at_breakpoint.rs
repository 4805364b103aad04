//! A run at its breakpoints.

use std::collections::BTreeMap;

use crate::engine::context::StopPoint;
use crate::engine::stored::StoredBreakpoints;
use crate::options::Breakpoints;

use super::driver::Driver;

impl Driver {
    /// Leaves the point at which the run, or the one before it, has stopped. The thread no longer shows its breakpoints.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_stop_point(&mut self) {
        let Some(StopPoint { before, after, calls, .. }) = self.stop_point.take() else { return };
        if self.is_root() && !calls.is_empty() {
            self.ctx.shared.parent_run.reported.replace(calls.clone());
        }
        if let Some(persist) = &self.persist
            && before.len() + after.len() > 0
        {
            let calls = if self.is_root() { calls } else { BTreeMap::new() };
            let passed = StoredBreakpoints { before, after, passed: true, calls, ahead: false };
            persist.records(passed.record().into_iter().collect(), Vec::new());
        }
    }

    /// Returns `true` unless the run is a subgraph call.
    pub(crate) fn is_root(&self) -> bool {
        self.ctx.shared.parent_run.path.is_empty()
    }

    /// Takes over breakpoints at which an earlier run has stopped. This run passes them.
    pub(crate) fn pass_breakpoints(&mut self, stored: StoredBreakpoints) {
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.passed = Some(self.step);
        }
        let is_current = stored.are_current();
        let StoredBreakpoints { before, after, calls, .. } = stored;
        if self.is_root() {
            let reported = &self.ctx.shared.parent_run.reported;
            let is_inside = |node: &String| self.graph.find(node).is_none();
            if !calls.is_empty() {
                reported.replace(calls.clone());
            } else if before.iter().chain(&after).any(is_inside) {
                reported.set_older();
            }
        }
        if is_current {
            self.stop_point = Some(StopPoint { before, after, calls, ..StopPoint::default() });
        }
    }

    /// Lets the call of a task pass the breakpoints whose stops were reported, and no others. Called before the call
    /// begins or continues.
    pub(crate) fn pass_reported_breakpoints(&mut self, task: &str) {
        let reported = self.ctx.shared.parent_run.reported.position(task);
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.passed = reported;
        }
        if reported < Some(self.step) {
            self.stop_point = None;
        }
    }

    /// Takes over breakpoints after these nodes that an earlier run reached without stopping. This run stops there if
    /// it has them.
    pub(crate) fn reach_breakpoints(&mut self, after: &[String]) {
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.begun = (self.step, after.iter().filter_map(|node| self.graph.find(node)).collect());
        }
    }

    /// Returns the nodes with a breakpoint after them at which the run would stop next.
    pub(crate) fn breakpoints_ahead(&self) -> Vec<String> {
        let after = match &self.breakpoints {
            Some(breakpoints) if !self.tasks.is_empty() => breakpoints.with_breakpoint_after(self.step),
            _ => Vec::new(),
        };
        after.iter().map(|&node| self.graph.node_name(node).to_owned()).collect()
    }

    /// Stops at a breakpoint when the run reaches it for the first time. Returns `true` if it stopped.
    #[cold]
    #[inline(never)]
    pub(crate) fn stops_at_breakpoint(&mut self) -> bool {
        let stop = self.breakpoints.as_mut().and_then(|breakpoints| breakpoints.stop(self.step, &self.tasks));
        let Some(Breakpoints { before, after }) = stop else { return false };
        let names =
            |nodes: Vec<usize>| nodes.iter().map(|&node| self.graph.node_name(node).to_owned()).collect();
        let (before, after) = (names(before), names(after));
        self.stop_point = Some(StopPoint { before, after, ..StopPoint::default() });
        true
    }
}
