use crate::erased::PacketType;
use crate::step::{KnownExit, Leave};

/// A graph for the planner, with nodes as indices in registration order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    pub(crate) nodes: Vec<NodePlan>,
    /// The ways out of START.
    pub(crate) start: NodePlan,
    pub(crate) joins: Vec<Join>,
}

impl Topology {
    /// Returns the successor of a node with a single edge to a node that is not deferred, and without joins.
    pub(crate) fn only_successor(&self, node: usize) -> Option<usize> {
        match self.nodes.get(node) {
            Some(NodePlan { edges, joins, .. }) if joins.is_empty() => match edges.as_slice() {
                [Target::Node(next)] if self.nodes.get(*next).is_some_and(|next| !next.deferred) => {
                    Some(*next)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns, for each exit of a node without joins, the target if it is a single node that is not deferred.
    pub(crate) fn only_targets(&self, node: usize) -> Vec<Option<usize>> {
        let Some(NodePlan { exits, joins, .. }) = self.nodes.get(node) else { return Vec::new() };
        let target = |exit: &ExitPlan| match exit.to.as_slice() {
            [Target::Node(next)] if joins.is_empty() => {
                self.nodes.get(*next).filter(|next| !next.deferred).map(|_| *next)
            }
            _ => None,
        };
        exits.iter().map(target).collect()
    }
}

/// The ways out of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodePlan {
    /// The targets of its edges.
    pub(crate) edges: Vec<Target>,
    /// The joins of which it is a source, with its index among their sources.
    pub(crate) joins: Vec<(usize, usize)>,
    /// The exits of its route.
    pub(crate) exits: Vec<ExitPlan>,
    /// The exits of its error handler's route. Their numbers follow those of `exits`.
    pub(crate) handler_exits: Vec<ExitPlan>,
    /// `true` if it runs only when no other node is planned.
    pub(crate) deferred: bool,
}

impl NodePlan {
    /// Returns the exit with this number.
    pub(crate) fn exit(&self, exit: usize) -> Option<&ExitPlan> {
        self.exits.iter().chain(&self.handler_exits).nth(exit)
    }

    /// Returns `true` if a task left by the route of its error handler.
    pub(crate) fn left_by_handler(&self, leave: &Leave) -> bool {
        leave.choices().iter().any(|choice| choice.exit >= self.exits.len())
    }
}

/// One exit of a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitPlan {
    pub(crate) label: &'static str,
    pub(crate) to: Vec<Target>,
    /// The type of the packet that it sends; `None` if it sends none.
    pub(crate) packet: Option<PacketType>,
}

impl ExitPlan {
    /// Returns these exits for a lookup by label. The first one has the number `first`.
    pub(crate) fn known(exits: &[Self], first: usize) -> impl Iterator<Item = KnownExit> {
        let known =
            |(index, exit): (usize, &Self)| KnownExit { index, label: exit.label, packet: exit.packet };
        (first..).zip(exits).map(known)
    }
}

/// The target of an edge or an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Node(usize),
    End,
}

/// Several nodes that must all have finished before the target is planned.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) sources: Vec<usize>,
    pub(crate) target: Target,
    /// `true` if it may still wait for some sources when the run ends.
    pub(crate) optional: bool,
}
