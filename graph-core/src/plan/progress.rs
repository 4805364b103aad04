use crate::erased::Packet;

use super::Topology;

/// The progress of a run: everything that the next plan depends on. Checkpoints store it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// The tasks of the next superstep, in application order.
    pub(crate) tasks: Vec<Task>,
    /// Tasks of deferred nodes, which wait until no other task is left, in the order in which they will run.
    pub(crate) waiting: Vec<Task>,
    /// The last superstep whose results planned a deferred node, even one that was waiting already.
    pub(crate) deferred_by: Option<u64>,
    /// For each join, `true` for each of its sources that has finished.
    pub(crate) joins: Vec<Vec<bool>>,
    /// The joins all of whose sources have finished since the last plan. The next plan clears them.
    pub(crate) filled: Vec<usize>,
    /// `true` for the nodes that an edge has planned; always all `false` between two plans.
    pub(super) planned: Vec<bool>,
}

/// One execution of a node in a superstep.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) node: usize,
    /// The packet, if it was planned by one.
    pub(crate) packet: Option<Packet>,
}

impl Progress {
    pub(crate) fn new(topology: &Topology) -> Self {
        Self {
            tasks: Vec::new(),
            waiting: Vec::new(),
            deferred_by: None,
            joins: topology.joins.iter().map(|join| vec![false; join.sources.len()]).collect(),
            filled: Vec::new(),
            planned: vec![false; topology.nodes.len()],
        }
    }

    /// Returns the joins for which some, but not all, sources have finished, with the indices of the missing sources.
    /// Optional joins are not included.
    pub(crate) fn incomplete_joins<'a>(
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
