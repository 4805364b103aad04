use std::any::TypeId;
use std::collections::{HashMap, HashSet};

use crate::engine::FailureMode;
use crate::error::WiringProblem;
use crate::node::{Decider, ErasedNode, Exit, NodeRef, OutwardType, PacketType};

use super::Breakpoints;
use super::place::{Registration, Value};
use super::policies::Policies;

/// A graph that is being put together: what was said, in the order in which it was said.
pub struct Draft<S, D> {
    pub(super) name: String,
    pub(super) nodes: Vec<DraftNode<S, D>>,
    pub(super) places: HashMap<NodeRef, usize>,
    pub(super) edges: Vec<(NodeRef, NodeRef)>,
    /// The same edges, to find one that is given twice.
    pub(super) drawn: HashSet<(NodeRef, NodeRef)>,
    /// The nodes' names.
    names: HashSet<String>,
    pub(super) joins: Vec<DraftJoin>,
    pub(super) routes: Vec<(NodeRef, Vec<Exit>, Decider<S, D>)>,
    /// A run may begin at any node.
    pub(super) anywhere: bool,
    /// By node and route, where the exits begin of what can be said to this graph within the node.
    pub(super) heard: Vec<(usize, TypeId, usize)>,
    pub(super) deferred: Vec<NodeRef>,
    /// The nodes with a breakpoint before them, and those with one after them.
    pub(super) breakpoints: Breakpoints<Vec<NodeRef>>,
    pub(super) aliases: Vec<(NodeRef, String)>,
    pub(super) policies: Policies<S, D>,
    pub(super) failure_mode: FailureMode,
    /// What was found wrong while putting together.
    pub(super) problems: Vec<WiringProblem>,
}

pub(super) struct DraftNode<S, D> {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) run: Box<dyn ErasedNode<S, D>>,
    pub(super) exits: Option<Vec<Exit>>,
    /// What it can say to a graph around this one.
    pub(super) outward: Vec<OutwardType>,
    /// What can be said to this graph within it.
    pub(super) heard: Vec<OutwardType>,
    pub(super) packet: Option<PacketType>,
}

pub(super) struct DraftJoin {
    pub(super) sources: Vec<NodeRef>,
    pub(super) targets: Vec<NodeRef>,
    pub(super) optional: bool,
}

impl<S, D> Draft<S, D> {
    pub(super) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            nodes: Vec::new(),
            places: HashMap::new(),
            edges: Vec::new(),
            drawn: HashSet::new(),
            names: HashSet::new(),
            joins: Vec::new(),
            routes: Vec::new(),
            anywhere: false,
            heard: Vec::new(),
            deferred: Vec::new(),
            breakpoints: Breakpoints::default(),
            aliases: Vec::new(),
            policies: Policies::default(),
            failure_mode: FailureMode::default(),
            problems: Vec::new(),
        }
    }

    /// Adds a node, or finds the one that is there.
    pub(super) fn register(&mut self, node: Registration<S, D>) {
        if let Some(known) = self.places.get(&node.node).and_then(|&place| self.nodes.get(place)) {
            if known.value != node.value {
                self.report(WiringProblem::DuplicateName { name: known.name.clone() });
            }
            return;
        }
        let name = node.node.name().to_owned();
        if let NodeRef::Nameless { .. } = node.node {
            self.report(WiringProblem::Nameless { of: name.clone() });
        } else if name.is_empty() || name == "START" || name == "END" {
            self.report(WiringProblem::ReservedName { name: name.clone() });
        } else if !self.names.insert(name.clone()) {
            self.report(WiringProblem::DuplicateName { name: name.clone() });
        }
        self.places.insert(node.node, self.nodes.len());
        self.nodes.push(DraftNode {
            name,
            value: node.value,
            heard: node.heard,
            outward: node.outward,
            run: node.run,
            exits: node.exits,
            packet: node.packet,
        });
    }

    pub(super) fn report(&mut self, problem: WiringProblem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}
