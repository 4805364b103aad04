use proc_macro2::Span;

/// The ways between nodes. `None` as a source is START, as a target it is END.
#[derive(Default)]
pub(super) struct Topology {
    edges: Vec<(Option<usize>, Option<usize>)>,
    joins: Vec<Join>,
}

struct Join {
    arrow: Span,
    sources: Vec<usize>,
    target: Option<usize>,
}

impl Topology {
    pub(super) fn edge(&mut self, from: Option<usize>, to: Option<usize>) {
        self.edges.push((from, to));
    }

    pub(super) fn join(&mut self, arrow: Span, sources: Vec<usize>, target: Option<usize>) {
        self.joins.push(Join { arrow, sources, target });
    }
}

/// The nodes that are reached, step by step.
pub(super) struct Reach<'t> {
    topology: &'t Topology,
    /// For each node, the nodes after its edges and routes.
    after: Vec<Vec<usize>>,
    /// For each node, the joins that wait for it.
    joins: Vec<Vec<usize>>,
    /// For each join, the sources that it waits for.
    waits: Vec<Vec<usize>>,
    reached: Vec<bool>,
    open: Vec<usize>,
}

impl<'t> Reach<'t> {
    /// Begins at START and at the nodes in `open`, among `count` nodes.
    pub(super) fn new(topology: &'t Topology, count: usize, open: Vec<usize>) -> Self {
        let waits = topology.joins.iter().map(|join| join.sources.clone()).collect();
        let (after, joins) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let mut reach = Self { topology, after, joins, waits, reached: vec![false; count], open };
        for &(from, to) in &topology.edges {
            match (from.and_then(|from| reach.after.get_mut(from)), to) {
                (_, None) => {}
                (Some(after), Some(to)) => after.push(to),
                (None, Some(to)) => reach.open.push(to),
            }
        }
        for (index, join) in topology.joins.iter().enumerate() {
            for &source in &join.sources {
                reach.joins.get_mut(source).into_iter().for_each(|joins| joins.push(index));
            }
        }
        reach.follow();
        reach
    }

    /// Follows edges, routes and filled joins.
    fn follow(&mut self) {
        while let Some(node) = self.open.pop() {
            match self.reached.get_mut(node) {
                Some(reached) if !*reached => *reached = true,
                _ => continue,
            }
            self.open.extend(self.after.get(node).into_iter().flatten());
            for &index in self.joins.get(node).into_iter().flatten() {
                if let (Some(waits), Some(join)) = (self.waits.get_mut(index), self.topology.joins.get(index))
                {
                    waits.retain(|&source| source != node);
                    if waits.is_empty() {
                        self.open.extend(join.target);
                    }
                }
            }
        }
    }

    /// Fills a join that waits in vain, after at least one of its sources was reached. Returns its arrow, and the sources
    /// that it waits for.
    pub(super) fn fill_one(&mut self) -> Option<(Span, Vec<usize>)> {
        let joins = self.topology.joins.iter().zip(&mut self.waits);
        let (join, waits) = joins.into_iter().find_map(|(join, waits)| {
            (!waits.is_empty() && waits.len() < join.sources.len()).then(|| (join, std::mem::take(waits)))
        })?;
        self.open.extend(join.target);
        self.follow();
        Some((join.arrow, waits))
    }

    pub(super) fn is_reached(&self, node: usize) -> bool {
        self.reached.get(node).copied().unwrap_or(false)
    }
}
