use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointSource, Checkpointer};
use crate::engine::{ErasedGraph, Outside, START, UpdatedNode, updated_as};
use crate::erased::TaskWrites;
use crate::error::{Error, ErrorKind};
use crate::step::{Leave, NodeRef};

use super::AsNode;
use super::as_node::KEEP_PLAN;
use super::resolve_route::{described, resolve_route};
use super::start_run::find_node;
use super::with_input::planned_nodes;

/// Resolves the node of each update from outside, with `None` resolved by the checkpoints of one namespace.
pub(crate) struct AsNodeResolver<'a> {
    pub(crate) graph: &'a ErasedGraph,
    pub(crate) store: &'a Arc<dyn Checkpointer>,
    pub(crate) thread: &'a Arc<str>,
    pub(crate) namespace: &'a Arc<str>,
}

impl AsNodeResolver<'_> {
    fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(&self.graph.0.name, kind)
    }

    /// Resolves the node of each update. Each inner list is one superstep; `last` names the nodes that ran before the first.
    pub(crate) fn resolve_supersteps(
        &self,
        supersteps: Vec<Vec<(TaskWrites, Option<AsNode>)>>,
        mut last: Vec<String>,
    ) -> Result<Vec<Vec<Outside>>, Error> {
        let mut all = Vec::new();
        let count = supersteps.len();
        if count == 0 {
            return Err(self.empty(0, 0));
        }
        for (index, updates) in supersteps.into_iter().enumerate() {
            if updates.is_empty() {
                return Err(self.empty(index + 1, count));
            }
            let mut superstep = Vec::new();
            for (update, place) in updates {
                superstep.push(self.resolve(update, place, &last)?);
            }
            self.check_end(&superstep)?;
            if !self.keeps_plan(&superstep)? {
                let names = superstep.iter().map(|outside| outside.place.name(&self.graph.0).to_owned());
                last = distinct(names);
            }
            all.push(superstep);
        }
        Ok(all)
    }

    /// Returns the error of a superstep without updates.
    fn empty(&self, superstep: usize, count: usize) -> Error {
        self.refuse(ErrorKind::EmptyUpdate { thread: self.thread.to_string(), superstep, count })
    }

    /// Refuses END next to another node: it would drop the tasks that the other update plans.
    fn check_end(&self, superstep: &[Outside]) -> Result<(), Error> {
        let other = superstep.iter().find(|outside| outside.place != UpdatedNode::End);
        match other {
            Some(other) if superstep.iter().any(|outside| outside.place == UpdatedNode::End) => {
                let other = other.place.name(&self.graph.0);
                let reason = format!(
                    "the same superstep has an update in the place of `{other}`, and END would drop the tasks that it \
                     plans: give END a superstep of its own with `bulk_update`"
                );
                Err(self.refuse(ErrorKind::InvalidAsNode { node: "END".to_owned(), reason }))
            }
            _ => Ok(()),
        }
    }

    /// Returns `true` if the superstep keeps the plan. Refuses other updates in it: they would replace the plan.
    fn keeps_plan(&self, superstep: &[Outside]) -> Result<bool, Error> {
        let keeps = superstep.iter().filter(|outside| outside.place == UpdatedNode::Plan).count();
        let other = superstep.iter().find(|outside| outside.place != UpdatedNode::Plan);
        match other {
            Some(other) if keeps > 0 => {
                let other = other.place.name(&self.graph.0);
                let reason = format!(
                    "the same superstep has an update in the place of `{other}`, which replaces the plan: give each a \
                     superstep of its own with `bulk_update`"
                );
                Err(self.refuse(ErrorKind::InvalidAsNode { node: KEEP_PLAN.to_owned(), reason }))
            }
            _ => Ok(keeps > 0),
        }
    }

    /// Resolves the node and the route of one update.
    fn resolve(&self, update: TaskWrites, place: Option<AsNode>, last: &[String]) -> Result<Outside, Error> {
        let inferred = place.is_none();
        let place = match (place, last) {
            (Some(place), _) => place,
            (None, [only]) => AsNode::named(only.clone()),
            (None, _) => {
                let candidates = last.to_vec();
                return Err(
                    self.refuse(ErrorKind::AmbiguousNode { thread: self.thread.to_string(), candidates })
                );
            }
        };
        let name = place.name().to_owned();
        if place.keeps_plan {
            if place.taken.is_some() {
                let reason = "it stands for no node, so it takes no route".to_owned();
                return Err(self.refuse(ErrorKind::InvalidAsNode { node: name, reason }));
            }
            return Ok(Outside { update, place: UpdatedNode::Plan, leave: Leave::ByEdges, inferred });
        }
        let at = match &place.node {
            NodeRef::Start => UpdatedNode::Start,
            NodeRef::End => UpdatedNode::End,
            other => UpdatedNode::Node(find_node(self.graph, other)?),
        };
        let invalid = |reason: &str| {
            self.refuse(ErrorKind::InvalidAsNode { node: name.clone(), reason: reason.to_owned() })
        };
        let exits = match at {
            UpdatedNode::Node(node) => {
                let plan = self.graph.0.topology.nodes.get(node);
                plan.map(|plan| plan.exits.as_slice()).unwrap_or_default()
            }
            UpdatedNode::Start | UpdatedNode::End | UpdatedNode::Plan => &[],
        };
        let decides = match at {
            UpdatedNode::Node(node) => self.graph.0.nodes.get(node).is_some_and(|node| node.decide.is_some()),
            UpdatedNode::Start | UpdatedNode::End | UpdatedNode::Plan => false,
        };
        let leave = match place.taken {
            Some(taken) => resolve_route(self.graph, exits, taken).map_err(|reason| invalid(&reason))?,
            None if exits.is_empty() || decides => Leave::ByEdges,
            None => {
                let routes = described(self.graph, exits.iter());
                return Err(invalid(&format!(
                    "the node returns its route: choose one with `with_route(..)` or `with_route_named(..)`: {routes}"
                )));
            }
        };
        Ok(Outside { update, place: at, leave, inferred })
    }

    /// Returns the nodes that wrote last before a checkpoint. Empty if that is not stored.
    pub(crate) async fn last_writers(&self, checkpoint: &Checkpoint) -> Result<Vec<String>, Error> {
        let mut at = checkpoint.clone();
        loop {
            match at.source {
                CheckpointSource::Input => return Ok(vec![START.to_owned()]),
                CheckpointSource::Update => {
                    let nodes = updated_as(self.thread, &at).map_err(|kind| self.refuse(kind))?;
                    // An update that has kept the plan is in the place of no node.
                    if !nodes.is_empty() {
                        return Ok(distinct(nodes.into_iter()));
                    }
                }
                _ => {}
            }
            let Some(parent) = at.parent else { return Ok(Vec::new()) };
            let loaded = self.store.get(self.thread, self.namespace, Some(parent)).await;
            let loaded = loaded.map_err(|error| self.refuse(ErrorKind::store(Arc::new(error))))?;
            let Some(stored) = &loaded.found else { return Ok(Vec::new()) };
            if at.source == CheckpointSource::Loop {
                // With `Durability::Exit` only the end of a run is stored: the tasks planned at the parent ran first, not last.
                let follows = Some(at.step) == stored.checkpoint.step.checked_add(1);
                return Ok(if follows { distinct(planned_nodes(&loaded).into_iter()) } else { Vec::new() });
            }
            at = stored.checkpoint.clone();
        }
    }
}

/// Sorts names and removes duplicates.
fn distinct(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}
