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
    joins: Vec<Vec<bool>>,
    /// The joins with a source that has finished, in order. A graph may have many joins, of which few have begun.
    begun: Vec<usize>,
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
            begun: Vec::new(),
            filled: Vec::new(),
            planned: vec![false; topology.nodes.len()],
        }
    }

    /// Records that a source of a join has finished.
    pub(crate) fn arrive(&mut self, join: usize, place: usize) {
        let Some(arrived) = self.joins.get_mut(join) else { return };
        let Some(slot) = arrived.get_mut(place) else { return };
        if std::mem::replace(slot, true) {
            return;
        }
        if arrived.iter().all(|&arrived| arrived) {
            self.filled.push(join);
        }
        if let Err(position) = self.begun.binary_search(&join) {
            self.begun.insert(position, join);
        }
    }

    /// Clears a join.
    pub(super) fn leave_join(&mut self, join: usize) {
        if let Some(arrived) = self.joins.get_mut(join) {
            arrived.fill(false);
        }
        if let Ok(position) = self.begun.binary_search(&join) {
            self.begun.remove(position);
        }
    }

    /// Returns the joins with a source that has finished. For each source, in the order of the join, `true` if it has.
    pub(crate) fn begun_joins<'a>(
        &'a self,
        topology: &'a Topology,
    ) -> impl Iterator<Item = (&'a super::Join, &'a [bool])> + 'a {
        self.begun
            .iter()
            .filter_map(|&join| Some((topology.joins.get(join)?, self.joins.get(join)?.as_slice())))
    }

    /// Returns `true` if a source of a join has finished.
    pub(crate) fn has_begun_joins(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Returns the joins for which some, but not all, sources have finished, with the indices of the missing sources.
    /// Optional joins are not included.
    pub(crate) fn incomplete_joins<'a>(
        &'a self,
        topology: &'a Topology,
    ) -> impl Iterator<Item = (&'a super::Join, Vec<usize>)> + 'a {
        self.begun_joins(topology).filter(|(join, _)| !join.optional).map(|(join, arrived)| {
            let missing = join.sources.iter().zip(arrived).filter(|&(_, &arrived)| !arrived);
            (join, missing.map(|(&source, _)| source).collect())
        })
    }
}
