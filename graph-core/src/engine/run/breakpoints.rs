use std::collections::HashSet;

use crate::engine::graph::Compiled;
use crate::error::ErrorKind;
use crate::options::{AddedBreakpoints, Breakpoints};
use crate::plan::Task;
use crate::step::NodeRef;

/// The breakpoints of a run, and its position relative to them.
#[derive(Debug)]
pub(crate) struct RunBreakpoints {
    /// By node, `true` if the run stops there.
    stops: Breakpoints<Vec<bool>>,
    /// The number of applied supersteps up to which the run passes its breakpoints. A run that resumes at a breakpoint
    /// begins with it.
    pub(super) passed: Option<u64>,
    /// The superstep that began last, and its nodes.
    pub(super) begun: (u64, Vec<usize>),
}

impl RunBreakpoints {
    /// Returns the breakpoints of a run; `None` if neither the graph nor the run has any.
    ///
    /// # Errors
    /// A breakpoint of the run names a node that the graph does not have.
    pub(crate) fn of(
        graph: &Compiled,
        given: &Breakpoints<AddedBreakpoints>,
    ) -> Result<Option<Box<Self>>, ErrorKind> {
        let before = stops(graph, &graph.breakpoints.before, &given.before)?;
        let after = stops(graph, &graph.breakpoints.after, &given.after)?;
        let any = before.iter().chain(&after).any(|&stop| stop);
        let stops = Breakpoints { before, after };
        Ok(any.then(|| Box::new(Self { stops, passed: None, begun: (0, Vec::new()) })))
    }

    /// Returns the nodes of the last superstep with a breakpoint after them, once `applied` supersteps have been
    /// applied.
    pub(super) fn with_breakpoint_after(&self, applied: u64) -> Vec<usize> {
        let just: &[usize] = if self.begun.0 == applied { &self.begun.1 } else { &[] };
        chosen(&self.stops.after, just)
    }

    /// Returns the breakpoints at which the run stops, given the number of applied supersteps and the planned tasks.
    pub(super) fn stop(&mut self, applied: u64, tasks: &[Task]) -> Option<Breakpoints<Vec<usize>>> {
        let next: Vec<usize> = tasks.iter().map(|task| task.node).collect();
        if self.passed < Some(applied) {
            let before = chosen(&self.stops.before, &next);
            let after = self.with_breakpoint_after(applied);
            if !before.is_empty() || !after.is_empty() {
                self.passed = Some(applied);
                return Some(Breakpoints { before, after });
            }
        }
        self.begun = (applied + 1, next);
        None
    }
}

fn stops(graph: &Compiled, always: &[usize], given: &AddedBreakpoints) -> Result<Vec<bool>, ErrorKind> {
    let mut stops = vec![given.at_all; graph.nodes.len()];
    let mut places = always.to_vec();
    for node in &given.at {
        let place = match node {
            NodeRef::Named(name) => graph.find(name),
            node => graph.indices.get(node).copied(),
        };
        let unknown = || ErrorKind::UnknownNode {
            node: node.name().to_owned(),
            what: "to stop at",
            known: graph.names.iter().map(ToString::to_string).collect(),
        };
        places.push(place.ok_or_else(unknown)?);
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
