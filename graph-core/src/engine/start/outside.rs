use crate::engine::graph::Compiled;
use crate::engine::stored::START;
use crate::erased::TaskWrites;
use crate::plan::{END_PLACE, START_PLACE};
use crate::step::Leave;

/// An update from outside.
pub(crate) struct Outside {
    pub(crate) update: TaskWrites,
    pub(crate) place: UpdatedNode,
    pub(crate) leave: Leave,
    /// `true` if the caller has not named the node. The update then has to plan the pending tasks again.
    pub(crate) inferred: bool,
}

/// The node on whose behalf an update is made, or START or END.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdatedNode {
    Start,
    Node(usize),
    End,
    /// No node: the plan stays.
    Plan,
}

impl UpdatedNode {
    pub(crate) fn name(self, graph: &Compiled) -> &str {
        match self {
            Self::Start => START,
            Self::Node(node) => graph.node_name(node),
            Self::End => "END",
            Self::Plan => START,
        }
    }

    /// Returns its number in the numbering of nodes.
    pub(super) fn number(self) -> usize {
        match self {
            Self::Start | Self::Plan => START_PLACE,
            Self::Node(node) => node,
            Self::End => END_PLACE,
        }
    }
}
