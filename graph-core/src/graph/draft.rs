use std::any::TypeId;
use std::collections::{HashMap, HashSet};

use crate::engine::{Decider, ErasedNode};
use crate::erased::{PacketType, StateType};
use crate::error::WiringProblem;
use crate::options::{Breakpoints, FailureMode};
use crate::step::{Exit, NodeRef, ParentCommandType};

use super::node_writes::NodeWrites;
use super::policies::Policies;
use super::registration::{NodeTypes, Registration, ValueId};

/// A graph under construction: every call of the builder, in order.
pub struct Draft {
    /// The type of the state.
    pub(super) state: &'static StateType,
    /// The state and all states flattened into it. Empty before `compile()`.
    pub(super) parts: Vec<TypeId>,
    pub(super) name: String,
    pub(super) nodes: Vec<DraftNode>,
    pub(super) indices: HashMap<NodeRef, usize>,
    pub(super) edges: Vec<(NodeRef, NodeRef)>,
    /// The same edges as a set, to skip duplicates.
    pub(super) drawn: HashSet<(NodeRef, NodeRef)>,
    names: HashSet<String>,
    /// The first node of each name, even if the name is refused.
    pub(super) by_name: HashMap<String, usize>,
    pub(super) joins: Vec<DraftJoin>,
    pub(super) routes: Vec<(NodeRef, Vec<Exit>, Decider)>,
    /// `true` if a run may begin at any node, as in a machine.
    pub(super) anywhere: bool,
    /// For each node and route type of its subgraph's parent commands: the index of the first of their exits among the
    /// node's exits.
    pub(super) command_exits: Vec<(usize, TypeId, usize)>,
    pub(super) deferred: Vec<NodeRef>,
    /// The nodes with a breakpoint before them, and those with one after them.
    pub(super) breakpoints: Breakpoints<Vec<NodeRef>>,
    pub(super) aliases: Vec<(NodeRef, String)>,
    pub(super) policies: Policies,
    pub(super) failure_mode: FailureMode,
    /// The mistakes found so far.
    pub(super) problems: Vec<WiringProblem>,
}

pub(super) struct DraftNode {
    pub(super) name: String,
    pub(super) value: ValueId,
    pub(super) run: Box<dyn ErasedNode>,
    pub(super) exits: Option<Vec<Exit>>,
    /// The parent commands that the node can return.
    pub(super) parent_commands: Vec<ParentCommandType>,
    /// The parent commands that can come out of the subgraph, if the node is one.
    pub(super) received_commands: Vec<ParentCommandType>,
    pub(super) packet: Option<PacketType>,
    pub(super) writes: NodeWrites,
}

pub(super) struct DraftJoin {
    pub(super) sources: Vec<NodeRef>,
    pub(super) targets: Vec<NodeRef>,
    pub(super) optional: bool,
}

impl Draft {
    pub(super) fn new(state: &'static StateType) -> Self {
        Self {
            state,
            parts: Vec::new(),
            name: state.name.to_owned(),
            nodes: Vec::new(),
            indices: HashMap::new(),
            edges: Vec::new(),
            drawn: HashSet::new(),
            names: HashSet::new(),
            by_name: HashMap::new(),
            joins: Vec::new(),
            routes: Vec::new(),
            anywhere: false,
            command_exits: Vec::new(),
            deferred: Vec::new(),
            breakpoints: Breakpoints::default(),
            aliases: Vec::new(),
            policies: Policies::default(),
            failure_mode: FailureMode::default(),
            problems: Vec::new(),
        }
    }

    /// Adds a node with its types, unless it is registered already.
    pub(super) fn register_node(
        &mut self,
        node: NodeRef,
        value: ValueId,
        run: Box<dyn ErasedNode>,
        types: NodeTypes,
    ) -> NodeRef {
        let (exits, parent_commands, packet) = ((types.exits)(), (types.parent_commands)(), (types.packet)());
        let received_commands = run
            .as_subgraph()
            .and_then(crate::node::SubgraphNode::graph)
            // A lazy subgraph may be the graph that is being compiled, so its commands are unknown here.
            .map_or_else(Vec::new, |graph| graph.parent_commands.clone());
        let writes = NodeWrites::of(types.writes, &*run);
        let registered = node.clone();
        self.register(Registration {
            node,
            value,
            run,
            exits,
            parent_commands,
            received_commands,
            packet,
            writes,
        });
        registered
    }

    /// Adds a node, unless it is registered already.
    pub(super) fn register(&mut self, node: Registration) {
        if let Some(known) = self.indices.get(&node.node).and_then(|&index| self.nodes.get(index)) {
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
        self.by_name.entry(name.clone()).or_insert(self.nodes.len());
        self.indices.insert(node.node, self.nodes.len());
        self.nodes.push(DraftNode {
            name,
            value: node.value,
            received_commands: node.received_commands,
            parent_commands: node.parent_commands,
            run: node.run,
            exits: node.exits,
            packet: node.packet,
            writes: node.writes,
        });
    }

    /// Adds edges, each only once.
    pub(super) fn connect(&mut self, from: &NodeRef, targets: Vec<NodeRef>) {
        for to in targets {
            let edge = (from.clone(), to);
            if self.drawn.insert(edge.clone()) {
                self.edges.push(edge);
            }
        }
    }

    pub(super) fn join(&mut self, sources: Vec<NodeRef>, targets: Vec<NodeRef>, optional: bool) {
        self.joins.push(DraftJoin { sources, targets, optional });
    }

    pub(super) fn report(&mut self, problem: WiringProblem) {
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}
