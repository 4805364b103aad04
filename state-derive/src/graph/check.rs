use std::collections::{HashMap, HashSet};

use proc_macro2::Span;
use syn::Type;

use crate::attr::Problems;

use super::model::{Node, NodeValue, Place, Single, Statement, Text, Way};
use super::reach::{Reach, Topology};

/// The nodes that the constants check in another way, or not at all.
#[derive(Default)]
pub(crate) struct Checked<'t> {
    /// The nodes of which a mistake says how they are left.
    pub(crate) unchecked: HashSet<&'t str>,
    /// Targets of routes that no way leaves, and that may be variants by mistake.
    pub(crate) unleft: HashSet<&'t str>,
}

/// Finds every mistake in the topology.
pub(crate) fn check<'t>(text: &'t Text, problems: &mut Problems) -> Checked<'t> {
    let mut check = Check {
        nodes: Vec::new(),
        by_key: HashMap::new(),
        start: Out::default(),
        topology: Topology::default(),
        checked: Checked::default(),
        chosen: HashSet::new(),
        opened: Vec::new(),
        problems,
    };
    for statement in &text.statements {
        check.statement(statement);
    }
    for single in text.deferred.iter().flat_map(Place::singles) {
        check.deferred(single);
    }
    check.finish(&text.state);
    check.checked
}

/// The first mention of a node, and its ways out.
struct Seen<'t> {
    node: &'t Node,
    out: Out,
    /// Whether it also stands alone: ways that the text does not show may lead to it, or on from it.
    stands_alone: bool,
}

/// How a place is left.
#[derive(Default)]
struct Out {
    by_edges: bool,
    by_route: bool,
}

struct Check<'t, 'p> {
    nodes: Vec<Seen<'t>>,
    by_key: HashMap<&'t str, usize>,
    start: Out,
    topology: Topology,
    checked: Checked<'t>,
    /// The targets of routes that nodes return.
    chosen: HashSet<usize>,
    /// The nodes after a mistake: they count as reached and as left, so that it is reported once.
    opened: Vec<usize>,
    problems: &'p mut Problems,
}

impl<'t> Check<'t, '_> {
    fn statement(&mut self, statement: &'t Statement) {
        if statement.links.is_empty() {
            return self.alone(&statement.first);
        }
        let mut from = &statement.first;
        for link in &statement.links {
            match &link.way {
                Way::Edge(to) => {
                    self.edge(from, link.arrow, to);
                    from = to;
                }
                Way::Join { to, .. } => {
                    self.join(from, link.arrow, to);
                    from = to;
                }
                Way::Route { targets, by } => self.route(from, link.arrow, targets, by.is_some()),
            }
        }
    }

    fn alone(&mut self, place: &'t Place) {
        match place {
            Place::One(Single::Node(node)) => {
                let node = self.index(node);
                if let Some(seen) = self.nodes.get_mut(node) {
                    seen.stands_alone = true;
                }
            }
            Place::One(Single::Start(span) | Single::End(span)) | Place::Several(_, span) => {
                self.at(*span, "only a node can stand alone; write `->` after this");
            }
        }
    }

    fn deferred(&mut self, single: &'t Single) {
        match single {
            // A node without ways is reported like any other.
            Single::Node(node) => drop(self.index(node)),
            Single::Start(span) | Single::End(span) => self.at(*span, "only a node can be deferred"),
        }
    }

    fn edge(&mut self, from: &'t Place, arrow: Span, to: &'t Place) {
        let from = self.source(from, arrow);
        if let Some(from) = from {
            self.leaves_by_edges(from, arrow);
        }
        let targets = self.targets(to);
        match from {
            Some(from) => targets.into_iter().for_each(|target| self.topology.edge(from, target)),
            None => self.opened.extend(targets.into_iter().flatten()),
        }
    }

    fn join(&mut self, from: &'t Place, arrow: Span, to: &'t Place) {
        let sources = match from {
            Place::Several(sources, _) if sources.len() > 1 => sources,
            _ => {
                self.at(arrow, "a join waits for several nodes: write `(a, b) => c`, or `->` after one node");
                self.count_as_left(from);
                let targets = self.targets(to);
                return self.opened.extend(targets.into_iter().flatten());
            }
        };
        let mut indices = Vec::new();
        for source in sources {
            match source {
                Single::Node(node) => {
                    let index = self.index(node);
                    self.leaves_by_edges(Some(index), arrow);
                    indices.push(index);
                }
                Single::Start(span) | Single::End(span) => self.at(*span, "a join waits for nodes only"),
            }
        }
        for target in self.targets(to) {
            self.topology.join(arrow, indices.clone(), target);
        }
    }

    fn route(&mut self, from: &'t Place, arrow: Span, targets: &'t [Single], is_decided: bool) {
        let Some(from) = self.source(from, arrow) else {
            let targets: Vec<_> = targets.iter().filter_map(|target| self.target(target)).collect();
            return self.opened.extend(targets.into_iter().flatten());
        };
        let out = self.out(from);
        let (edges, route) = (out.by_edges, std::mem::replace(&mut out.by_route, true));
        if route {
            self.at(
                arrow,
                format!("{} has a route already: write all its targets in one `{{ .. }}`", self.name(from)),
            );
            self.leave_unchecked(from);
        } else if edges {
            self.at(arrow, both(&self.name(from)));
            self.leave_unchecked(from);
        }
        if from.is_none() && !is_decided {
            self.at(
                arrow,
                "START returns no route: name a function that decides, `START -> { .. } by decide;`",
            );
        }
        for target in targets {
            if let Some(target) = self.target(target) {
                self.topology.edge(from, target);
                if !is_decided {
                    self.chosen.extend(target);
                }
            }
        }
    }

    fn leaves_by_edges(&mut self, from: Option<usize>, arrow: Span) {
        let out = self.out(from);
        let (edges, route) = (std::mem::replace(&mut out.by_edges, true), out.by_route);
        if route && !edges {
            self.at(arrow, both(&self.name(from)));
            self.leave_unchecked(from);
        }
    }

    fn leave_unchecked(&mut self, from: Option<usize>) {
        let node = from.and_then(|from| self.nodes.get(from));
        self.checked.unchecked.extend(node.map(|seen| seen.node.key.as_str()));
    }

    fn count_as_left(&mut self, from: &'t Place) {
        if from.singles().iter().any(|single| matches!(single, Single::Start(_))) {
            self.start.by_edges = true;
        }
        for node in from.singles().iter().filter_map(Single::node) {
            let index = self.index(node);
            self.out(Some(index)).by_edges = true;
        }
    }

    /// Returns the node that an edge or a route leaves; `None` inside for START. Reports other places.
    fn source(&mut self, from: &'t Place, arrow: Span) -> Option<Option<usize>> {
        match from {
            Place::One(Single::Start(_)) => Some(None),
            Place::One(Single::Node(node)) => Some(Some(self.index(node))),
            Place::One(Single::End(span)) => {
                self.at(*span, "nothing follows END");
                None
            }
            Place::Several(..) => {
                self.count_as_left(from);
                let message = "this arrow leaves several nodes: write `=>` to wait for all of them, or one statement for each";
                self.at(arrow, message);
                None
            }
        }
    }

    fn targets(&mut self, to: &'t Place) -> Vec<Option<usize>> {
        to.singles().iter().filter_map(|target| self.target(target)).collect()
    }

    /// Returns the node that a way leads to; `None` inside for END. Reports START.
    fn target(&mut self, to: &'t Single) -> Option<Option<usize>> {
        match to {
            Single::End(_) => Some(None),
            Single::Node(node) => Some(Some(self.index(node))),
            Single::Start(span) => {
                self.at(*span, "nothing leads to START: it is the place where a run begins");
                None
            }
        }
    }

    fn index(&mut self, node: &'t Node) -> usize {
        if let Some(&known) = self.by_key.get(node.key.as_str()) {
            return known;
        }
        let index = self.nodes.len();
        self.by_key.insert(&node.key, index);
        self.nodes.push(Seen { node, out: Out::default(), stands_alone: false });
        index
    }

    fn out(&mut self, from: Option<usize>) -> &mut Out {
        match from.and_then(|from| self.nodes.get_mut(from)) {
            Some(seen) => &mut seen.out,
            None => &mut self.start,
        }
    }

    fn name(&self, from: Option<usize>) -> String {
        match from.and_then(|from| self.nodes.get(from)) {
            Some(seen) => format!("`{}`", seen.node.key),
            None => "START".to_owned(),
        }
    }

    fn at(&mut self, span: Span, message: impl std::fmt::Display) {
        self.problems.push(syn::Error::new(span, message));
    }

    fn finish(&mut self, state: &Type) {
        if !self.start.by_edges && !self.start.by_route {
            match self.nodes.iter().find(|seen| seen.node.key.eq_ignore_ascii_case("start")) {
                Some(seen) => {
                    self.checked.unchecked.insert(&seen.node.key);
                    self.problems.at(span_of(seen.node), "a graph begins at `START`, in capital letters");
                }
                None => self.problems.at(state, "this graph does not begin: write `START -> node;`"),
            }
            return;
        }
        let after_mistakes: HashSet<usize> = self.opened.iter().copied().collect();
        let mut open = std::mem::take(&mut self.opened);
        open.extend((0..).zip(&self.nodes).filter(|(_, seen)| seen.stands_alone).map(|(index, _)| index));
        let topology = std::mem::take(&mut self.topology);
        let mut reach = Reach::new(&topology, self.nodes.len(), open);
        let mut unfilled = Vec::new();
        while let Some(join) = reach.fill_one() {
            unfilled.push(join);
        }
        for (arrow, missing) in unfilled {
            // A node that nothing leads to is reported, and that is enough.
            if missing.iter().all(|&source| reach.is_reached(source)) {
                let missing: Vec<String> = missing.iter().map(|&source| self.name(Some(source))).collect();
                let message = "this join never fills: it waits for a node that only runs after it: ";
                self.at(arrow, format!("{message}{}", missing.join(" and ")));
            }
        }
        for index in 0..self.nodes.len() {
            let Some(seen) = self.nodes.get(index) else { continue };
            let (node, is_left) = (seen.node, seen.out.by_edges || seen.out.by_route);
            let (span, stands_alone) = (span_of(node), seen.stands_alone);
            let name = self.name(Some(index));
            if !reach.is_reached(index) {
                self.problems.at(&span, format!("no way leads to {name}: write an arrow to it, or `{};` if it is entered in a way that the text does not show", source_of(node)));
            }
            if is_left || stands_alone || after_mistakes.contains(&index) {
                continue;
            }
            if self.chosen.contains(&index) && node.key.starts_with(char::is_uppercase) {
                // A constant knows whether this is a node or a variant of the route.
                self.checked.unleft.insert(&node.key);
            } else if node.key.eq_ignore_ascii_case("end") {
                self.problems.at(
                    &span,
                    format!("no way leads on from {name}: the end of a graph is `END`, in capital letters"),
                );
            } else {
                self.problems.at(&span, format!("no way leads on from {name}: write `{0} -> END;`, or the targets of its route, `{0} -> {{ .. }};`", source_of(node)));
            }
        }
    }
}

fn both(name: &str) -> String {
    format!("{name} has both edges and a route: keep one of them; a route can lead to several nodes")
}

fn span_of(node: &Node) -> proc_macro2::TokenStream {
    use quote::ToTokens as _;
    match &node.value {
        NodeValue::Path(path) => path.to_token_stream(),
        NodeValue::Value(value) => value.clone(),
    }
}

fn source_of(node: &Node) -> String {
    match &node.value {
        NodeValue::Path(_) => node.key.clone(),
        NodeValue::Value(_) => format!("&{}", node.key),
    }
}
