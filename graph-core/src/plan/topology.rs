use crate::node::{Choice, Leave, PacketType};

/// A graph as the planner sees it: places as numbers, in registration order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topology {
    pub(crate) nodes: Vec<NodePlan>,
    /// What leaves START.
    pub(crate) start: NodePlan,
    pub(crate) joins: Vec<Join>,
}

impl Topology {
    /// The node that follows when one edge leads on and nothing else hangs on the node.
    #[inline]
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
}

/// The ways out of one node.
#[derive(Clone, Debug, Default)]
pub(crate) struct NodePlan {
    /// Where its edges lead.
    pub(crate) edges: Vec<Target>,
    /// The joins it is a source of, with its place among their sources.
    pub(crate) joins: Vec<(usize, usize)>,
    /// Where the exits of its route lead.
    pub(crate) exits: Vec<ExitPlan>,
    /// Where the exits of its error handler's route lead; they are counted on from the others.
    pub(crate) rescues: Vec<ExitPlan>,
    /// Runs only once nothing else is planned.
    pub(crate) deferred: bool,
}

impl NodePlan {
    /// The exit of this number.
    pub(crate) fn exit(&self, exit: usize) -> Option<&ExitPlan> {
        self.exits.iter().chain(&self.rescues).nth(exit)
    }

    /// Whether a task has left by the route of its error handler.
    pub(crate) fn is_rescued(&self, leave: &Leave) -> bool {
        let own = |choice: &Choice| choice.exit < self.exits.len();
        match leave {
            Leave::ByEdges | Leave::Outward(_) => false,
            Leave::By(choice) => !own(choice),
            Leave::ByAll(choices) => !choices.iter().all(own),
        }
    }
}

/// One exit of a route.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExitPlan {
    pub(crate) label: &'static str,
    pub(crate) to: Vec<Target>,
    /// How what it carries is read back; `None` where it carries nothing.
    pub(crate) packet: Option<PacketType>,
}

/// Where an edge or an exit leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Node(usize),
    End,
}

/// Several nodes that must all have finished before another is planned.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    pub(crate) sources: Vec<usize>,
    pub(crate) target: Target,
    /// May stay part-filled when the run ends.
    pub(crate) optional: bool,
}
