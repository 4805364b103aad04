use std::collections::HashSet;

use crate::error::ErrorKind;
use crate::graph::{Breakpoints, Compiled};
use crate::node::NodeRef;
use crate::plan::Task;

use super::Driver;
use super::halt::Halt;

/// The breakpoints of a run, and its position relative to them.
#[derive(Debug)]
pub(crate) struct Gates {
    /// By node, `true` if the run stops there.
    stops: Breakpoints<Vec<bool>>,
    /// The number of applied supersteps at the last breakpoint that the run has passed. A run that resumes at a
    /// breakpoint begins with it.
    passed: Option<u64>,
    /// The superstep that began last, and its nodes.
    begun: (u64, Vec<usize>),
}

/// The breakpoints of a run, in addition to those of its graph.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops {
    pub(crate) at_all: bool,
    pub(crate) at: Vec<NodeRef>,
}

impl Gates {
    /// Returns the breakpoints of a run; `None` if neither the graph nor the run has any.
    ///
    /// # Errors
    /// A breakpoint of the run names a node that the graph does not have.
    pub(crate) fn of(graph: &Compiled, given: &Breakpoints<Stops>) -> Result<Option<Box<Self>>, ErrorKind> {
        let before = stops(graph, &graph.breakpoints.before, &given.before)?;
        let after = stops(graph, &graph.breakpoints.after, &given.after)?;
        let any = before.iter().chain(&after).any(|&stop| stop);
        let stops = Breakpoints { before, after };
        Ok(any.then(|| Box::new(Self { stops, passed: None, begun: (0, Vec::new()) })))
    }

    /// Returns the nodes of the last superstep with a breakpoint after them, once `applied` supersteps have been
    /// applied.
    fn behind(&self, applied: u64) -> Vec<usize> {
        let just: &[usize] = if self.begun.0 == applied { &self.begun.1 } else { &[] };
        chosen(&self.stops.after, just)
    }

    /// Returns the breakpoints at which the run stops, given the number of applied supersteps and the planned tasks.
    fn stop(&mut self, applied: u64, tasks: &[Task]) -> Option<Breakpoints<Vec<usize>>> {
        let next: Vec<usize> = tasks.iter().map(|task| task.node).collect();
        if self.passed != Some(applied) {
            let before = chosen(&self.stops.before, &next);
            let after = self.behind(applied);
            if !before.is_empty() || !after.is_empty() {
                self.passed = Some(applied);
                return Some(Breakpoints { before, after });
            }
        }
        self.begun = (applied + 1, next);
        None
    }
}

fn stops(graph: &Compiled, always: &[usize], given: &Stops) -> Result<Vec<bool>, ErrorKind> {
    let mut stops = vec![given.at_all; graph.nodes.len()];
    let mut places = always.to_vec();
    for node in &given.at {
        let place = graph.indices.get(node);
        let unknown = || ErrorKind::UnknownNode { node: node.name().to_owned(), what: "to stop at" };
        places.push(*place.ok_or_else(unknown)?);
    }
    for place in places {
        if let Some(stop) = stops.get_mut(place) {
            *stop = true;
        }
    }
    Ok(stops)
}

/// Returns the nodes that have a breakpoint, each once.
fn chosen(stops: &[bool], nodes: &[usize]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let stops = |node: &usize| stops.get(*node).copied().unwrap_or(false);
    nodes.iter().copied().filter(|node| stops(node) && seen.insert(*node)).collect()
}

impl Driver {
    /// Passes the breakpoints at the current position, because an earlier run has stopped there.
    pub(super) fn pass_gate(&mut self) {
        if let Some(gates) = &mut self.gates {
            gates.passed = Some(self.step);
        }
    }

    /// Takes over breakpoints after these nodes that an earlier run reached without stopping. This run stops there if
    /// it has them.
    pub(super) fn come_to_gate(&mut self, after: &[String]) {
        if let Some(gates) = &mut self.gates {
            gates.begun = (self.step, after.iter().filter_map(|node| self.graph.find(node)).collect());
        }
    }

    /// Returns the nodes with a breakpoint after them at which the run would stop next.
    pub(super) fn gate_ahead(&self) -> Vec<String> {
        let after = match &self.gates {
            Some(gates) if !self.tasks.is_empty() => gates.behind(self.step),
            _ => Vec::new(),
        };
        after.iter().map(|&node| self.graph.node_name(node).to_owned()).collect()
    }

    /// Stops at a breakpoint when the run reaches it for the first time. Returns `true` if it stopped.
    #[cold]
    #[inline(never)]
    pub(super) fn stops_at_gate(&mut self) -> bool {
        let stop = self.gates.as_mut().and_then(|gates| gates.stop(self.step, &self.tasks));
        let Some(Breakpoints { before, after }) = stop else { return false };
        let names =
            |nodes: Vec<usize>| nodes.iter().map(|&node| self.graph.node_name(node).to_owned()).collect();
        let (before, after) = (names(before), names(after));
        self.halt = Some(Halt { before, after, ..Halt::default() });
        true
    }
}
