use std::sync::Arc;

use crate::checkpoint::{Checkpoint, CheckpointSource, Checkpointer};
use crate::engine::persist::{Outside, Place, START, updated_as};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::node::{Leave, NodeRef};
use crate::state::GraphState;

use super::AsNode;
use super::begin::node;
use super::input::planned_at;

/// The checkpoints that an update follows, those of a thread or of calls within its runs: from them is seen in whose place it
/// is made.
pub(super) struct Line<'l, S: GraphState, D> {
    pub(super) graph: &'l Graph<S, D>,
    pub(super) store: &'l Arc<dyn Checkpointer>,
    pub(super) thread: &'l Arc<str>,
    pub(super) namespace: &'l Arc<str>,
}

impl<S: GraphState, D: Send + Sync + 'static> Line<'_, S, D> {
    fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(self.graph.name(), kind)
    }

    /// Updates with the places that they are made in, each list a superstep; `last` has written what they follow.
    pub(super) fn supersteps(
        &self,
        supersteps: Vec<Vec<(S::Update, Option<AsNode>)>>,
        mut last: Vec<String>,
    ) -> Result<Vec<Vec<Outside<S>>>, Error> {
        let mut all = Vec::new();
        for updates in supersteps {
            let mut superstep = Vec::new();
            for (update, place) in updates {
                superstep.push(self.outside(update, place, &last)?);
            }
            let names = superstep.iter().map(|outside| outside.place.name(&self.graph.0).to_owned());
            last = once_each(names);
            all.push(superstep);
        }
        Ok(all)
    }

    /// An update with the place that it is made in.
    fn outside(
        &self,
        update: S::Update,
        place: Option<AsNode>,
        last: &[String],
    ) -> Result<Outside<S>, Error> {
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
        let name = place.node.name().to_owned();
        let at = match &place.node {
            NodeRef::Start => Place::Start,
            NodeRef::End => Place::End,
            other => Place::Node(node(self.graph, other)?),
        };
        let not = |reason: &str| {
            self.refuse(ErrorKind::InvalidAsNode { node: name.clone(), reason: reason.to_owned() })
        };
        let exits = match at {
            Place::Node(node) => {
                let plan = self.graph.0.topology.nodes.get(node);
                plan.map(|plan| plan.exits.as_slice()).unwrap_or_default()
            }
            Place::Start | Place::End => &[],
        };
        let decides = match at {
            Place::Node(node) => self.graph.0.nodes.get(node).is_some_and(|node| node.decide.is_some()),
            Place::Start | Place::End => false,
        };
        let leave = match place.taken {
            Some(taken) => {
                let same = taken.exits.iter().map(|exit| exit.label).eq(exits.iter().map(|exit| exit.label));
                if !same {
                    return Err(not("the way that it shall have taken is none of its route's"));
                }
                taken.leave.map_err(|error| not(&error.to_string()))?
            }
            None if exits.is_empty() || decides => Leave::ByEdges,
            None => {
                return Err(not(
                    "what it returns is its route: say which way it shall have taken, with `taking(..)`",
                ));
            }
        };
        Ok(Outside { update, place: at, leave })
    }

    /// Who has written the state of a checkpoint; nobody where that is not stored.
    pub(super) async fn wrote_last(&self, checkpoint: &Checkpoint) -> Result<Vec<String>, Error> {
        let mut at = checkpoint.clone();
        loop {
            match at.source {
                CheckpointSource::Input => return Ok(vec![START.to_owned()]),
                CheckpointSource::Update => return Ok(once_each(updated_as(&at).into_iter())),
                _ => {}
            }
            let Some(parent) = at.parent else { return Ok(Vec::new()) };
            let loaded = self.store.get(self.thread, self.namespace, Some(parent)).await;
            let loaded = loaded.map_err(|error| self.refuse(ErrorKind::store(Arc::new(error))))?;
            let Some(stored) = &loaded.found else { return Ok(Vec::new()) };
            if at.source == CheckpointSource::Loop {
                // Of a run that stored its end alone, what was planned at the parent ran first, and not last.
                let follows = at.step == stored.checkpoint.step + 1;
                return Ok(if follows { once_each(planned_at(&loaded).into_iter()) } else { Vec::new() });
            }
            at = stored.checkpoint.clone();
        }
    }
}

/// Names without those that are there already.
fn once_each(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}
