//! The writes of nodes that run in one superstep.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::engine::Handler;
use crate::error::WiringProblem;
use crate::plan::{NodePlan, Target, Topology};
use crate::state::{WriteKind, WrittenField};

use super::draft::Draft;

impl Draft {
    /// Reports two nodes that always run in one superstep, and always write a field that only one of them may write.
    pub(super) fn check_writes(&mut self, topology: &Topology) {
        let mut beside = None;
        let mut problems = Vec::new();
        for group in groups(topology) {
            for (first, second, field) in self.conflicts(topology, &group) {
                let overwrites = field.kind == WriteKind::Overwrite;
                // An overwrite of a third node would cancel both writes.
                if !overwrites && self.may_be_canceled(topology, &mut beside, (first, second), field.name) {
                    continue;
                }
                let name = |node: usize| self.nodes.get(node).map_or(String::new(), |node| node.name.clone());
                let (what, cure) = if overwrites {
                    ("overwrite", "let one of them write without `Overwrite`")
                } else {
                    ("write", "give the field a reducer with `#[state(reducer = ..)]`")
                };
                problems.push(WiringProblem::AlwaysConcurrentWrites {
                    first: name(first),
                    second: name(second),
                    field: field.name.to_owned(),
                    what,
                    cure,
                });
            }
        }
        problems.into_iter().for_each(|problem| self.report(problem));
    }

    /// Returns the pairs of a group whose writes conflict, each later node with the first that writes the same field.
    fn conflicts(&self, topology: &Topology, group: &[usize]) -> Vec<(usize, usize, WrittenField)> {
        let mut writers: HashMap<(&str, bool, bool), (usize, WrittenField)> = HashMap::new();
        let mut conflicts = Vec::new();
        for &node in group {
            let Some(fields) = self.nodes.get(node).and_then(|node| node.writes.0.as_ref()) else { continue };
            for field in fields {
                // Deferred nodes do not run together with others.
                let key = (field.name, field.kind == WriteKind::Overwrite, is_deferred(topology, node));
                match writers.get(&key) {
                    Some((first, written)) if *first != node && written.conflicts_with(field) => {
                        conflicts.push((*first, node, *field));
                    }
                    Some(_) => {}
                    None if field.conflicts_with(field) => drop(writers.insert(key, (node, *field))),
                    None => {}
                }
            }
        }
        conflicts
    }

    /// Returns `true` if another node may overwrite the field in the superstep of these nodes.
    fn may_be_canceled(
        &self,
        topology: &Topology,
        beside: &mut Option<Beside>,
        (first, second): (usize, usize),
        field: &str,
    ) -> bool {
        let cancels = |node: &usize| {
            let fields = self.nodes.get(*node).and_then(|node| node.writes.0.as_ref());
            *node != first
                && *node != second
                && fields.is_none_or(|fields| fields.iter().any(|written| written.may_cancel(field)))
        };
        let mut others = (0..self.nodes.len()).filter(cancels).peekable();
        if others.peek().is_none() {
            return false;
        }
        let beside = beside.get_or_insert_with(|| Beside::of(topology));
        let deferred = is_deferred(topology, first);
        others.any(|other| {
            is_deferred(topology, other) == deferred && beside.has(other, first) && beside.has(other, second)
        })
    }

    /// Returns the fields that a finished run has written; `None` if it can have written any.
    pub(super) fn run_writes(
        &self,
        topology: &Topology,
        handlers: &[Option<Handler>],
    ) -> Option<Vec<WrittenField>> {
        // A handler's result replaces that of its node, and a parent command that of the run.
        if handlers.iter().any(Option::is_some)
            || self.nodes.iter().any(|node| !node.parent_commands.is_empty())
        {
            return None;
        }
        let specs = (0..self.state.fields).filter_map(self.state.field);
        let ephemeral: HashSet<&str> = specs.filter(|spec| spec.ephemeral).map(|spec| spec.name).collect();
        let certain = certain(topology);
        // For each field, the ways in which it is written, and whether each run writes it so.
        let mut fields: BTreeMap<&'static str, Vec<WrittenField>> = BTreeMap::new();
        for (node, certain) in self.nodes.iter().zip(certain) {
            for field in node.writes.0.as_ref()? {
                let always = field.always && certain && !ephemeral.contains(field.name);
                let ways = fields.entry(field.name).or_default();
                match ways.iter_mut().find(|way| way.kind == field.kind) {
                    Some(way) => way.always |= always,
                    None => ways.push(WrittenField { always, ..*field }),
                }
            }
        }
        // The last of several kinds of writes decides for the parent graph, and it is not known which is the last.
        let each = fields.into_values().flat_map(|ways| {
            let single = ways.len() == 1;
            ways.into_iter().map(move |way| WrittenField { always: way.always && single, ..way })
        });
        Some(each.collect())
    }
}

/// Returns the groups of nodes that are always planned together: by the edges of a node, by an exit, or by joins that
/// wait for the same nodes.
fn groups(topology: &Topology) -> impl Iterator<Item = Vec<usize>> {
    let plans = || std::iter::once(&topology.start).chain(&topology.nodes);
    let edges = plans().map(|plan| nodes(&plan.edges));
    let exits = plans().flat_map(|plan| &plan.exits).filter(|exit| exit.packet.is_none());
    let mut joins: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for join in &topology.joins {
        let mut sources = join.sources.clone();
        sources.sort_unstable();
        joins.entry(sources).or_default().extend(nodes(&[join.target]));
    }
    let all = edges.chain(exits.map(|exit| nodes(&exit.to))).chain(joins.into_values());
    all.filter(|group| group.len() > 1)
}

fn nodes(targets: &[Target]) -> Vec<usize> {
    let nodes = targets.iter().filter_map(|target| match target {
        Target::Node(node) => Some(*node),
        Target::End => None,
    });
    nodes.collect()
}

fn is_deferred(topology: &Topology, node: usize) -> bool {
    topology.nodes.get(node).is_some_and(|plan| plan.deferred)
}

/// Returns the nodes after a node: behind its edges, its routes and the joins that it may fill.
fn after(topology: &Topology, plan: &NodePlan) -> Vec<usize> {
    let exits = plan.exits.iter().chain(&plan.handler_exits).flat_map(|exit| &exit.to);
    let joins = plan.joins.iter().filter_map(|(join, _)| topology.joins.get(*join)).map(|join| &join.target);
    let targets: Vec<Target> = plan.edges.iter().chain(exits).chain(joins).copied().collect();
    nodes(&targets)
}

/// The pairs of nodes that may run in one superstep, and perhaps others.
///
/// Two tasks run together only if the tasks that planned them did, or if one task planned both. Deferred tasks wait for
/// each other.
struct Beside(HashSet<(usize, usize)>);

impl Beside {
    fn of(topology: &Topology) -> Self {
        let after: Vec<Vec<usize>> = topology.nodes.iter().map(|plan| after(topology, plan)).collect();
        let start = self::after(topology, &topology.start);
        let deferred: Vec<usize> =
            (0..topology.nodes.len()).filter(|&node| is_deferred(topology, node)).collect();
        let mut beside = Self(HashSet::new());
        let mut open = Vec::new();
        // A node is beside itself: it plans all that follows it.
        let each = (0..topology.nodes.len()).map(|node| (node, node));
        open.extend(each.filter(|pair| beside.0.insert(*pair)));
        for group in [start, deferred] {
            beside.add(&group, &group, &mut open);
        }
        while let Some((one, other)) = open.pop() {
            if let (Some(one), Some(other)) = (after.get(one), after.get(other)) {
                beside.add(one, other, &mut open);
            }
        }
        beside
    }

    fn add(&mut self, ones: &[usize], others: &[usize], open: &mut Vec<(usize, usize)>) {
        for &one in ones {
            for &other in others {
                let pair = (one.min(other), one.max(other));
                if self.0.insert(pair) {
                    open.push(pair);
                }
            }
        }
    }

    fn has(&self, one: usize, other: usize) -> bool {
        self.0.contains(&(one.min(other), one.max(other)))
    }
}

/// Returns, for each node, whether it runs in every run that finishes: those that edges from START lead to, and after
/// them those that edges and joins lead to.
fn certain(topology: &Topology) -> Vec<bool> {
    let mut certain = vec![false; topology.nodes.len()];
    let mut missing: Vec<usize> = topology.joins.iter().map(|join| join.sources.len()).collect();
    let mut open = nodes(&topology.start.edges);
    while let Some(node) = open.pop() {
        let (Some(known), Some(plan)) = (certain.get_mut(node), topology.nodes.get(node)) else { continue };
        if std::mem::replace(known, true) || !plan.exits.is_empty() {
            continue;
        }
        open.extend(nodes(&plan.edges));
        for &(join, _) in &plan.joins {
            if let (Some(missing), Some(join)) = (missing.get_mut(join), topology.joins.get(join)) {
                *missing = missing.saturating_sub(1);
                if *missing == 0 {
                    open.extend(nodes(&[join.target]));
                }
            }
        }
    }
    certain
}
