use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, CheckpointQuery, Loaded, StoredCheckpoint};
use crate::engine::child::{escape, namespace};
use crate::engine::{ContextWith, ParentHead, ParentTask, caught, parent_task};
use crate::erased::ErasedState;
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::state::GraphState;
use crate::subgraph::{MakesContext, Subgraph, WiredTo, Wiring};
use crate::thread::erased::Persistent;
use crate::thread::history_pages::{HistoryPage, HistoryPages, MAX_PAGE};
use crate::thread::load::{applied_by, snapshot};
use crate::thread::{Snapshot, Thread};

use super::CallParent;
use super::call_status::{CallStatus, call_status};
use super::outer::kept_at;

/// The calls of a subgraph on a thread, with their state and history. Made by [`Thread::within`].
///
/// ```
/// # use superstep::checkpoint::MemoryCheckpointer;
/// # use superstep::{END, GraphState, START, StateGraph};
/// # #[derive(GraphState, Clone)]
/// # struct Report { #[state(reducer = append)] notes: Vec<String> }
/// # async fn search(_: &Report) -> ReportUpdate { Report::update().notes(["found it".to_owned()]) }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> superstep::Result<()> {
/// # let research = StateGraph::<Report>::new().edge(START, search).edge(search, END).compile()?;
/// let research = research.as_node("research");
/// let graph = StateGraph::<Report>::new().edge(START, &research).edge(&research, END).compile()?;
/// let thread = graph.with_checkpointer(MemoryCheckpointer::default()).thread("17");
/// thread.run(Report::input()).await?;
///
/// let inner = thread.within(&research).state().await?.expect("it was called");
/// assert_eq!(&*inner.namespace, "research");
/// assert_eq!(inner.state.expect("it has begun").notes, ["found it"]);
/// # Ok(())
/// # }
/// ```
pub struct SubgraphCall<T, C: GraphState, D, W: Wiring<C>, X> {
    pub(crate) outer: T,
    pub(crate) subgraph: Subgraph<C, D, W, X>,
    /// The namespaces of the calls: one for the node's name, one for each alias.
    pub(crate) namespaces: Vec<Arc<str>>,
    pub(crate) selection: Selection,
}

/// The way in which one of several calls was selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Selection {
    None,
    Task,
    Key,
}

impl<T: Clone, C: GraphState, D, W: Wiring<C>, X> Clone for SubgraphCall<T, C, D, W, X> {
    fn clone(&self) -> Self {
        let (outer, subgraph) = (self.outer.clone(), self.subgraph.clone());
        Self { outer, subgraph, namespaces: self.namespaces.clone(), selection: self.selection }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Thread<S, D> {
    /// Returns the calls of a subgraph on this thread.
    pub fn within<C, E, W, X>(&self, subgraph: &Subgraph<C, E, W, X>) -> SubgraphCall<Self, C, E, W, X>
    where
        C: GraphState,
        W: WiredTo<C, S>,
    {
        SubgraphCall::of(self.clone(), subgraph)
    }
}

impl<T: CallParent, C: GraphState, D, W: Wiring<C>, X> SubgraphCall<T, C, D, W, X> {
    fn of(outer: T, subgraph: &Subgraph<C, D, W, X>) -> Self {
        let (graph, parents) = (outer.graph(), outer.namespaces());
        let node = graph.0.find(subgraph.name());
        let aliases = graph.0.aliases.iter().filter(|(_, aliased)| Some(*aliased) == node);
        let names = std::iter::once(subgraph.name()).chain(aliases.map(|(name, _)| name.as_str()));
        let namespaces =
            names.flat_map(|name| parents.iter().map(move |parent| namespace(parent, name).into()));
        let namespaces = namespaces.collect();
        Self { outer, subgraph: subgraph.clone(), namespaces, selection: Selection::None }
    }

    /// Selects the calls of the task with this index in its superstep, for a subgraph that is sent packets.
    pub fn task(self, task: usize) -> Self {
        self.select(Selection::Task, &format!("#{task}"))
    }

    /// Selects the calls with this key, for a subgraph whose calls have keys.
    pub fn key(self, key: &str) -> Self {
        let mut part = String::from(":");
        escape(key, &mut part);
        self.select(Selection::Key, &part)
    }

    fn select(mut self, selection: Selection, part: &str) -> Self {
        self.namespaces.iter_mut().for_each(|namespace| *namespace = format!("{namespace}{part}").into());
        self.selection = selection;
        self
    }
}

impl<T, C, D, W, X> SubgraphCall<T, C, D, W, X>
where
    T: CallParent,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    /// Returns the calls of a subgraph inside this one.
    pub fn within<B, E, V, Y>(self, subgraph: &Subgraph<B, E, V, Y>) -> SubgraphCall<Self, B, E, V, Y>
    where
        B: GraphState,
        V: WiredTo<B, C>,
    {
        SubgraphCall::of(self, subgraph)
    }

    /// Returns a snapshot of the newest call, or `None` before the first call.
    ///
    /// # Errors
    /// As [`Thread::state`]. If the call shares the parent state,
    /// [`NoCheckpoint`](ErrorKind::NoCheckpoint) if the parent's checkpoint has been pruned.
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn state(&self) -> Result<Option<Snapshot<C>>, Error> {
        caught(self.thread().graph.name(), self.load(None)).await
    }

    /// Returns the checkpoints of all calls, newest first.
    ///
    /// # Errors
    /// As [`state`](Self::state).
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn history(&self) -> Result<Vec<Snapshot<C>>, Error> {
        caught(self.thread().graph.name(), self.load_all()).await
    }

    async fn load_all(&self) -> Result<Vec<Snapshot<C>>, Error> {
        let (namespace, _) = self.read(None).await?;
        let query = CheckpointQuery::new(Arc::clone(&self.thread().name)).namespace(namespace);
        let (mut pages, mut all) = (HistoryPages::new(query), Vec::new());
        while !pages.ended {
            let page = pages.next(&*self.persistent().store, MAX_PAGE).await;
            all.extend(self.snapshots(page.map_err(|error| self.persistent().error(error))?).await?);
        }
        Ok(all)
    }

    async fn snapshots(&self, page: HistoryPage) -> Result<Vec<Snapshot<C>>, Error> {
        let (thread, graph) = (&self.thread().name, self.subgraph.graph());
        let refuse = |kind| self.persistent().refuse(kind);
        let checkpoints = page.entries.iter().map(|entry| &entry.checkpoint);
        let parents = checkpoints.map(|checkpoint| parent_task(thread, checkpoint).map_err(refuse));
        let parents: Vec<Option<ParentTask>> = parents.collect::<Result<_, Error>>()?;
        let parents = parents.iter().map(|parent| parent.as_ref().map(ParentTask::state_at));
        // A call on the parent state needs that state, so its own state is read from complete fields.
        let (namespace, epoch) = (Arc::clone(&page.namespace), page.epoch);
        let (mut own, mut shared) = match W::HERE {
            true => (Vec::new(), page.expanded()),
            false => (page.snapshots(&graph.0, thread).map_err(refuse)?, Vec::new()),
        };
        let (mut own, mut shared) = (own.drain(..), shared.drain(..));
        // The checkpoints of a call follow each other, so its surroundings are read once.
        let (mut all, mut known) = (Vec::new(), None);
        for at in parents {
            if known.as_ref().is_none_or(|(known_at, _)| *known_at != at) {
                known = Some((at, self.surroundings(at).await?));
            }
            let Some((_, (parents, state))) = &known else { continue };
            let snapshot = match (own.next(), shared.next()) {
                (Some(snapshot), _) => snapshot,
                (None, Some((stored, applied))) => {
                    let base = state.as_ref().and_then(W::base).map(|base| base as &dyn ErasedState);
                    snapshot(&graph.0, thread, (&namespace, epoch), stored, base, applied.as_ref())
                        .map_err(refuse)?
                }
                (None, None) => continue,
            };
            all.push(Snapshot { parents: parents.clone(), ..snapshot.typed().map_err(refuse)? });
        }
        Ok(all)
    }

    /// Returns the parents of a call that was made at a checkpoint of the parent run, and the parent state if the call
    /// shares it.
    async fn surroundings(
        &self,
        at: Option<CheckpointId>,
    ) -> Result<(BTreeMap<Arc<str>, CheckpointId>, Option<T::State>), Error> {
        let Some(at) = at else { return Ok((BTreeMap::new(), None)) };
        let parents = self.outer.parents_at(at).await?;
        if !W::HERE {
            return Ok((parents, None));
        }
        let state = self.outer.state_at(at).await?;
        let thread = self.thread().name.to_string();
        let no_checkpoint = || ErrorKind::NoCheckpoint { thread, checkpoint: at };
        Ok((parents, Some(state.ok_or_else(|| self.persistent().refuse(no_checkpoint()))?)))
    }

    pub(crate) fn thread(&self) -> &Thread<T::Root, T::Context> {
        self.outer.thread()
    }

    pub(crate) fn persistent(&self) -> &Persistent {
        &self.thread().persistent
    }

    /// Reads a checkpoint and its namespace. The node's current name comes first, then its aliases.
    pub(crate) async fn read(&self, checkpoint: Option<CheckpointId>) -> Result<(Arc<str>, Loaded), Error> {
        let mut first = None;
        for namespace in &self.namespaces {
            let loaded = self.persistent().store.get(&self.thread().name, namespace, checkpoint).await;
            let loaded = loaded.map_err(|error| self.persistent().error(error))?;
            let found = loaded.found.is_some();
            let read = (Arc::clone(namespace), loaded);
            if found {
                return Ok(read);
            }
            first.get_or_insert(read);
        }
        Ok(first.unwrap_or_default())
    }

    fn parent_task(&self, stored: &StoredCheckpoint) -> Result<Option<ParentTask>, Error> {
        parent_task(&self.thread().name, &stored.checkpoint).map_err(|kind| self.persistent().refuse(kind))
    }

    pub(crate) async fn load(&self, checkpoint: Option<CheckpointId>) -> Result<Option<Snapshot<C>>, Error> {
        let (namespace, loaded) = self.read(checkpoint).await?;
        let (epoch, head) = (loaded.fence.epoch, loaded.fence.head);
        let Some(stored) = loaded.found else { return Ok(None) };
        let (store, thread) = (&*self.persistent().store, &self.thread().name);
        let applied =
            applied_by(store, thread, &namespace, (&stored.checkpoint, &stored.records), head).await;
        let applied = applied.map_err(|error| self.persistent().error(error))?;
        let parent = self.parent_task(&stored)?;
        let at = match &parent {
            // An update from outside may have kept the parent task since the call was stored.
            Some(parent) if checkpoint.is_none() && !parent.between_calls => {
                Some(self.outer.kept_at(parent.checkpoint).await?.unwrap_or(parent.state_at()))
            }
            Some(parent) => Some(parent.state_at()),
            None => None,
        };
        let (parents, state) = self.surroundings(at).await?;
        let graph = self.subgraph.graph();
        let base = state.as_ref().and_then(W::base).map(|base| base as &dyn ErasedState);
        snapshot(&graph.0, thread, (&namespace, epoch), stored, base, applied.as_ref())
            .and_then(|snapshot| Ok(Some(Snapshot { parents, ..snapshot.typed()? })))
            .map_err(|kind| self.persistent().refuse(kind))
    }
}

impl<T, C, D, W, X> CallParent for SubgraphCall<T, C, D, W, X>
where
    T: CallParent,
    C: GraphState,
    D: Send + Sync + 'static,
    W: WiredTo<C, T::State>,
    X: MakesContext<T::Around, D>,
{
    type State = C;
    type Around = D;
    type Root = T::Root;
    type Context = T::Context;

    fn thread(&self) -> &Thread<T::Root, T::Context> {
        self.outer.thread()
    }

    fn graph(&self) -> Graph<C, D> {
        self.subgraph.graph()
    }

    fn namespaces(&self) -> Vec<Arc<str>> {
        self.namespaces.clone()
    }

    async fn state_at(&self, checkpoint: CheckpointId) -> Result<Option<C>, Error> {
        // Boxed because subgraph calls nest to any depth.
        let shown: Pin<Box<dyn Future<Output = _> + Send + '_>> = Box::pin(self.load(Some(checkpoint)));
        Ok(shown.await?.and_then(|snapshot| snapshot.state))
    }

    async fn parents_at(&self, checkpoint: CheckpointId) -> Result<BTreeMap<Arc<str>, CheckpointId>, Error> {
        let (namespace, loaded) = self.read(Some(checkpoint)).await?;
        let parent = loaded.found.as_ref().map(|stored| self.parent_task(stored)).transpose()?;
        let mut parents: BTreeMap<Arc<str>, CheckpointId> = match parent.flatten() {
            Some(parent) => {
                let above: Pin<Box<dyn Future<Output = _> + Send + '_>> =
                    Box::pin(self.outer.parents_at(parent.state_at()));
                above.await?
            }
            None => BTreeMap::new(),
        };
        parents.insert(namespace, checkpoint);
        Ok(parents)
    }

    async fn kept_at(&self, planned_at: CheckpointId) -> Result<Option<CheckpointId>, Error> {
        let (_, loaded) = self.read(None).await?;
        kept_at(&self.thread().erased(), loaded, planned_at)
    }

    async fn levels(&self) -> Result<Vec<ParentHead>, Error> {
        let parent: Pin<Box<dyn Future<Output = _> + Send + '_>> = Box::pin(self.outer.levels());
        let mut levels: Vec<ParentHead> = parent.await?;
        let (namespace, loaded) = self.read(None).await?;
        let (fence, origin) = (loaded.fence, loaded.origin);
        let status = call_status(&self.thread().name, &levels, loaded.found);
        match status.map_err(|kind| self.persistent().refuse(kind))? {
            CallStatus::Waiting(stored, _) => {
                levels.push(ParentHead { namespace, stored: *stored, fence, origin });
                Ok(levels)
            }
            other => Err(self.no_subgraph_call(&namespace, &other)),
        }
    }

    fn around(&self, context: &Arc<T::Context>) -> Arc<D> {
        let node = self.subgraph.name();
        self.subgraph.inner.context.context(&ContextWith::detached(node, self.outer.around(context)))
    }
}

impl<T, C: GraphState, D, W: Wiring<C>, X> std::fmt::Debug for SubgraphCall<T, C, D, W, X> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SubgraphCall").field("namespace", &self.namespaces.first()).finish_non_exhaustive()
    }
}
