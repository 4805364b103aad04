//! The nodes of a written graph that always run in one superstep.

use std::collections::{BTreeMap, HashMap, HashSet};

use syn::{ExprPath, PathArguments};

use super::model::{Node, NodeValue, Place, Single, Text, Way};

/// Nodes that are always planned together, by the edges of one place or by joins that wait for the same nodes.
pub(super) struct Together<'t> {
    /// The nodes that a constant can name, in the order of the text. There are two at least.
    pub(super) members: Vec<(&'t str, &'t ExprPath)>,
    /// Other nodes that may run in the same superstep as one of them. `None` stands for one that a constant cannot name.
    pub(super) beside: Vec<Option<(&'t str, &'t ExprPath)>>,
}

/// Returns the groups of a written graph without mistakes.
pub(super) fn groups(text: &Text) -> Vec<Together<'_>> {
    let graph = Graph::of(text);
    let mut sets = graph.sets();
    if sets.is_empty() {
        return Vec::new();
    }
    let beside = graph.beside();
    sets.iter_mut().filter_map(|set| graph.group(set, &beside)).collect()
}

/// The topology, by numbers of nodes. START has no number.
#[derive(Default)]
struct Graph<'t> {
    nodes: Vec<&'t Node>,
    numbers: HashMap<&'t str, usize>,
    /// For each place, the nodes after its edges.
    edges: BTreeMap<Option<usize>, Vec<usize>>,
    /// For each set of sources, the nodes that wait for it.
    joins: BTreeMap<Vec<usize>, Vec<usize>>,
    /// For each place, all nodes that may run after it.
    after: BTreeMap<Option<usize>, Vec<usize>>,
    deferred: HashSet<usize>,
    /// The nodes that are entered in ways that the text does not show.
    alone: Vec<usize>,
}

impl<'t> Graph<'t> {
    fn of(text: &'t Text) -> Self {
        let mut graph = Self::default();
        for statement in &text.statements {
            let mut from = &statement.first;
            let sources = graph.numbers(from.singles());
            if statement.links.is_empty() {
                graph.alone.extend(sources);
            }
            for link in &statement.links {
                match &link.way {
                    Way::Edge(to) => {
                        let targets = graph.numbers(to.singles());
                        let source = graph.source(from);
                        graph.edges.entry(source).or_default().extend(&targets);
                        graph.after.entry(source).or_default().extend(targets);
                        from = to;
                    }
                    Way::Join { to, .. } => {
                        let mut sources = graph.numbers(from.singles());
                        let targets = graph.numbers(to.singles());
                        for source in &sources {
                            graph.after.entry(Some(*source)).or_default().extend(&targets);
                        }
                        sources.sort_unstable();
                        graph.joins.entry(sources).or_default().extend(targets);
                        from = to;
                    }
                    Way::Route { targets, .. } => {
                        let targets = graph.numbers(targets);
                        let source = graph.source(from);
                        graph.after.entry(source).or_default().extend(targets);
                    }
                }
            }
        }
        let deferred = graph.numbers(text.deferred.iter().flat_map(Place::singles));
        graph.deferred.extend(deferred);
        graph
    }

    fn numbers(&mut self, singles: impl IntoIterator<Item = &'t Single>) -> Vec<usize> {
        singles.into_iter().filter_map(Single::node).map(|node| self.number(node)).collect()
    }

    fn source(&mut self, from: &'t Place) -> Option<usize> {
        from.singles().first().and_then(Single::node).map(|node| self.number(node))
    }

    fn number(&mut self, node: &'t Node) -> usize {
        let next = self.nodes.len();
        let number = *self.numbers.entry(&node.key).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    /// Returns the nodes that are planned together. A deferred node waits until the others have run.
    fn sets(&self) -> Vec<Vec<usize>> {
        let mut sets = Vec::new();
        for together in self.edges.values().chain(self.joins.values()) {
            let (deferred, others): (Vec<usize>, Vec<usize>) =
                together.iter().partition(|node| self.deferred.contains(node));
            for mut set in [deferred, others] {
                let mut seen = HashSet::new();
                set.retain(|node| seen.insert(*node) && self.path(*node).is_some());
                if set.len() > 1 {
                    sets.push(set);
                }
            }
        }
        sets
    }

    fn group(&self, set: &mut [usize], beside: &HashSet<(usize, usize)>) -> Option<Together<'t>> {
        let is_deferred = set.iter().all(|node| self.deferred.contains(node));
        let may_run = |node: &usize| {
            !set.contains(node)
                && self.deferred.contains(node) == is_deferred
                && set.iter().any(|member| beside.contains(&ordered(*member, *node)))
        };
        let others = (0..self.nodes.len()).filter(may_run).map(|node| self.path(node)).collect();
        let members: Vec<_> = set.iter().filter_map(|node| self.path(*node)).collect();
        (members.len() > 1).then_some(Together { members, beside: others })
    }

    /// Returns the path of a node, if a constant can name it.
    fn path(&self, node: usize) -> Option<(&'t str, &'t ExprPath)> {
        match self.nodes.get(node)? {
            Node { key, value: NodeValue::Path(path) } if !is_generic(path) => Some((key.as_str(), path)),
            _ => None,
        }
    }

    /// Returns the pairs of nodes that may run in one superstep, and perhaps others.
    ///
    /// Two tasks run together only if the tasks that planned them did, or if one task planned both. Deferred tasks wait
    /// for each other. A node that the text does not lead to may run at any time.
    fn beside(&self) -> HashSet<(usize, usize)> {
        let (mut pairs, mut open) = (HashSet::new(), Vec::new());
        let mut add = |ones: &[usize], others: &[usize], open: &mut Vec<(usize, usize)>| {
            for &one in ones {
                for &other in others {
                    let pair = ordered(one, other);
                    if pairs.insert(pair) {
                        open.push(pair);
                    }
                }
            }
        };
        let after = |node: Option<usize>| self.after.get(&node).map_or(&[][..], Vec::as_slice);
        let all: Vec<usize> = (0..self.nodes.len()).collect();
        let deferred: Vec<usize> = self.deferred.iter().copied().collect();
        add(after(None), after(None), &mut open);
        add(&deferred, &deferred, &mut open);
        add(&self.alone, &all, &mut open);
        for node in all {
            add(&[node], &[node], &mut open);
        }
        while let Some((one, other)) = open.pop() {
            add(after(Some(one)), after(Some(other)), &mut open);
        }
        pairs
    }
}

fn ordered(one: usize, other: usize) -> (usize, usize) {
    (one.min(other), one.max(other))
}

/// Returns `true` if a path may use generic parameters of the function around it, which a constant item cannot.
pub(super) fn is_generic(path: &ExprPath) -> bool {
    path.qself.is_some()
        || path.path.segments.iter().any(|segment| !matches!(segment.arguments, PathArguments::None))
        || path.path.segments.first().is_some_and(|first| first.ident == "Self")
}
