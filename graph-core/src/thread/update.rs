use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Source};
use crate::engine::persist::{Outside, Place, START, open, updated_as};
use crate::error::{Error, ErrorKind};
use crate::node::{Leave, NodeRef};
use crate::run::{ContextGiven, HasContext, NeedsContext, Opening, Run};
use crate::state::{GraphState, IntoUpdate};

use super::begin::{node, require, writer};
use super::input::planned_at;
use super::load::read;
use super::{AsNode, IntoPlace, Thread};

/// A write to a thread from outside; awaiting it makes it, and gives the id of its checkpoint. Made by [`Thread::update`].
///
/// What had finished of an incomplete superstep is applied with it; what had not is given up, with its answers and
/// [steps](crate::Cx::step): a node that is planned anew then begins anew. To write to a thread that is to go on where it is,
/// give the update to the resumption: `thread.resume(()).update(..)`. On an old checkpoint it begins another branch, from that
/// checkpoint and nothing else.
///
/// It needs the graph's context, since a route function may.
#[must_use = "an update does nothing until it is awaited"]
pub struct UpdateThread<S: GraphState, D, C> {
    run: Run<S, D, C, ()>,
    thread: Thread<S, D>,
    at: Option<CheckpointId>,
    supersteps: Vec<Vec<(S::Update, Option<AsNode>)>>,
}

impl<S: GraphState, D: Send + Sync + 'static> UpdateThread<S, D, NeedsContext> {
    pub(super) fn new(
        thread: Thread<S, D>,
        at: Option<CheckpointId>,
        supersteps: Vec<Vec<(S::Update, Option<AsNode>)>>,
    ) -> Self {
        Self { run: Run::of(thread.graph.0.graph.clone(), ()), thread, at, supersteps }
    }

    /// Several, each inner list a superstep.
    pub(super) fn bulk<U: IntoUpdate<S>, P: IntoPlace>(
        thread: Thread<S, D>,
        at: Option<CheckpointId>,
        supersteps: impl IntoIterator<Item = impl IntoIterator<Item = (U, P)>>,
    ) -> Self {
        let one = |(update, place): (U, P)| (update.into_update(), place.into_place());
        let all = supersteps.into_iter().map(|superstep| superstep.into_iter().map(one).collect());
        Self::new(thread, at, all.collect())
    }

    /// Gives the context that route functions and fields marked `from_context` are made with.
    pub fn context(self, context: impl Into<Arc<D>>) -> UpdateThread<S, D, HasContext<D>> {
        let Self { run, thread, at, supersteps } = self;
        UpdateThread { run: run.context(context), thread, at, supersteps }
    }
}

impl<S: GraphState, D: Send + Sync + 'static, C> UpdateThread<S, D, C> {
    /// Adds a key to the metadata of its checkpoints.
    pub fn metadata(self, key: impl Into<String>, value: impl Into<serde_json::Value>) -> Self {
        Self { run: self.run.metadata(key, value), ..self }
    }
}

impl<S, D, C> UpdateThread<S, D, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    C: ContextGiven<D>,
{
    async fn make(self) -> Result<CheckpointId, Error> {
        let Self { run, thread, at, supersteps } = self;
        let ((), mut opening) = run.opening(None);
        let refuse = |kind| thread.graph.refuse(kind);
        let mut loaded = read(&thread, at).await?;
        require(&thread, &loaded, at)?;
        let compiled = Arc::clone(&thread.graph.0.graph.0);
        let stored = loaded.found.take();
        let mut last = match &stored {
            Some(stored) => wrote_last(&thread, &stored.checkpoint).await?,
            None => vec![START.to_owned()],
        };
        let is_head = stored.as_ref().is_some_and(|stored| Some(stored.checkpoint.id) == loaded.fence.head);
        let opened = stored.map(|stored| open::<S, D>(&compiled, &thread.name, stored)).transpose();
        let opened = opened.map_err(refuse)?;
        let mut all = Vec::new();
        for updates in supersteps {
            let mut superstep = Vec::new();
            for (update, place) in updates {
                superstep.push(outside(&thread, update, place, &last)?);
            }
            last = once_each(superstep.iter().map(|outside| outside.place.name(&compiled).to_owned()));
            all.push(superstep);
        }
        // On what a run has left it is a part of that run.
        let id = opened.as_ref().filter(|_| is_head).and_then(|opened| opened.run_id(&compiled));
        let (persist, shared) = writer(&thread, loaded, id, &mut opening);
        let Opening { context, options, .. } = opening;
        crate::engine::Driver::update_thread(
            compiled, context, shared, options, persist, opened, is_head, all,
        )
        .await
    }
}

/// An update with the place that it is made in.
fn outside<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    update: S::Update,
    place: Option<AsNode>,
    last: &[String],
) -> Result<Outside<S>, Error> {
    let refuse = |kind| thread.graph.refuse(kind);
    let place = match (place, last) {
        (Some(place), _) => place,
        (None, [only]) => AsNode::named(only.clone()),
        (None, _) => {
            let candidates = last.to_vec();
            return Err(refuse(ErrorKind::AsWhom { thread: thread.name.to_string(), candidates }));
        }
    };
    let name = place.node.name().to_owned();
    let node = match &place.node {
        NodeRef::Start => Place::Start,
        NodeRef::End => Place::End,
        other => Place::Node(node(thread, other)?),
    };
    let not = |reason: &str| refuse(ErrorKind::NotAsNode { node: name.clone(), reason: reason.to_owned() });
    let exits = match node {
        Place::Node(node) => {
            let plan = thread.graph.0.graph.0.topology.nodes.get(node);
            plan.map(|plan| plan.exits.as_slice()).unwrap_or_default()
        }
        Place::Start | Place::End => &[],
    };
    let decides = match node {
        Place::Node(node) => thread.graph.0.graph.0.nodes.get(node).is_some_and(|node| node.decide.is_some()),
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
    Ok(Outside { update, place: node, leave })
}

/// Names without those that are there already.
fn once_each(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// Who has written the state of a checkpoint; nobody where that is not stored.
async fn wrote_last<S: GraphState, D: Send + Sync + 'static>(
    thread: &Thread<S, D>,
    checkpoint: &crate::checkpoint::Checkpoint,
) -> Result<Vec<String>, Error> {
    let mut at = checkpoint.clone();
    loop {
        match at.source {
            Source::Input => return Ok(vec![START.to_owned()]),
            Source::Update => return Ok(once_each(updated_as(&at).into_iter())),
            Source::Loop | Source::Fork => {}
        }
        let Some(parent) = at.parent else { return Ok(Vec::new()) };
        let loaded = read(thread, Some(parent)).await?;
        let Some(stored) = &loaded.found else { return Ok(Vec::new()) };
        if at.source == Source::Loop {
            // Of a run that stored its end alone, what was planned at the parent ran first, and not last.
            let follows = at.step == stored.checkpoint.step + 1;
            return Ok(if follows { once_each(planned_at(&loaded).into_iter()) } else { Vec::new() });
        }
        at = stored.checkpoint.clone();
    }
}

impl<S, D, C> IntoFuture for UpdateThread<S, D, C>
where
    S: GraphState,
    D: Send + Sync + 'static,
    C: ContextGiven<D> + Send + 'static,
{
    type Output = Result<CheckpointId, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.make())
    }
}

impl<S: GraphState, D, C> std::fmt::Debug for UpdateThread<S, D, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpdateThread")
            .field("thread", &self.thread.name)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}
