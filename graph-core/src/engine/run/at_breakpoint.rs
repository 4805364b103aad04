//! A run at its breakpoints.

use crate::engine::context::StopPoint;
use crate::engine::stored::StoredBreakpoints;
use crate::options::Breakpoints;

use super::driver::Driver;

impl Driver {
    /// Leaves the point at which the run, or the one before it, has stopped. The thread no longer shows its breakpoints.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave_stop_point(&mut self) {
        let Some(StopPoint { before, after, .. }) = self.stop_point.take() else { return };
        if let Some(persist) = &self.persist
            && before.len() + after.len() > 0
        {
            let passed = StoredBreakpoints { before, after, passed: true, ..StoredBreakpoints::default() };
            persist.records(passed.record().into_iter().collect(), Vec::new());
        }
    }

    /// Passes the breakpoints at the current position, because an earlier run has stopped there.
    pub(crate) fn pass_breakpoints(&mut self) {
        if let Some(breakpoints) = &mut self.breakpoints {
            breakpoints.passed = Some(self.step);
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
            Some(breakpoints) if !self.tasks.is_empty() => breakpoints.behind(self.step),
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
