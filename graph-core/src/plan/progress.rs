use crate::node::Packet;

use super::Topology;

/// How far a run has come: everything that the next plan depends on, and that a checkpoint will hold.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// The tasks of the next superstep, in application order.
    pub(crate) tasks: Vec<Task>,
    /// Deferred nodes that wait for everything else to come to rest, in the order in which they will run.
    pub(crate) waiting: Vec<Task>,
    /// The last superstep whose results planned a deferred node, one that waits already included.
    pub(crate) deferred_by: Option<u64>,
    /// For each join, which of its sources have finished.
    pub(crate) joins: Vec<Vec<bool>>,
    /// Nodes already planned by an edge; always all `false` between two plans.
    pub(super) marked: Vec<bool>,
}

/// One run of one node in a superstep.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) node: usize,
    /// What it was sent, when it was planned by a packet.
    pub(crate) packet: Option<Packet>,
}

impl Progress {
    pub(crate) fn new(topology: &Topology) -> Self {
        Self {
            tasks: Vec::new(),
            waiting: Vec::new(),
            deferred_by: None,
            joins: topology.joins.iter().map(|join| vec![false; join.sources.len()]).collect(),
            marked: vec![false; topology.nodes.len()],
        }
    }

    /// Joins that wait for some of their sources although nothing is left to run, without the optional ones:
    /// the join's index, and the sources that are missing.
    pub(crate) fn unfilled<'a>(
        &'a self,
        topology: &'a Topology,
    ) -> impl Iterator<Item = (&'a super::Join, Vec<usize>)> + 'a {
        topology.joins.iter().zip(&self.joins).filter_map(|(join, arrived)| {
            let begun = arrived.iter().any(|&arrived| arrived);
            (begun && !join.optional).then(|| {
                let missing = join.sources.iter().zip(arrived).filter(|&(_, &arrived)| !arrived);
                (join, missing.map(|(&source, _)| source).collect())
            })
        })
    }
}
