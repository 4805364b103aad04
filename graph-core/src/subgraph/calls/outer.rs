use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use crate::checkpoint::{CheckpointId, Loaded};
use crate::engine::{ParentHead, planned_at};
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::state::GraphState;
use crate::thread::Thread;
use crate::thread::erased::ErasedThread;
use crate::thread::load::{load, read};

/// The parent of subgraph calls: a thread, or the calls of another subgraph.
pub trait CallParent: Clone + Send + Sync + 'static {
    /// The state of the parent graph.
    type State: GraphState;
    /// The application context of the parent graph.
    type Around: Send + Sync + 'static;
    /// The state of the thread's graph.
    type Root: GraphState;
    /// The application context of the thread's graph.
    type Context: Send + Sync + 'static;

    #[doc(hidden)]
    fn thread(&self) -> &Thread<Self::Root, Self::Context>;

    /// Returns the parent graph.
    #[doc(hidden)]
    fn graph(&self) -> Graph<Self::State, Self::Around>;

    /// Returns the namespaces that may hold its checkpoints, one for each name of the node.
    #[doc(hidden)]
    fn namespaces(&self) -> Vec<Arc<str>>;

    #[doc(hidden)]
    fn state_at(
        &self,
        checkpoint: CheckpointId,
    ) -> impl Future<Output = Result<Option<Self::State>, Error>> + Send;

    /// Returns a checkpoint and the checkpoints of all its parents, by namespace.
    #[doc(hidden)]
    fn parents_at(
        &self,
        checkpoint: CheckpointId,
    ) -> impl Future<Output = Result<BTreeMap<Arc<str>, CheckpointId>, Error>> + Send;

    /// Returns the head if it has tasks that an earlier checkpoint has planned.
    #[doc(hidden)]
    fn kept_at(
        &self,
        planned_at: CheckpointId,
    ) -> impl Future<Output = Result<Option<CheckpointId>, Error>> + Send;

    /// Reads the heads of the parent runs, outermost first.
    #[doc(hidden)]
    fn levels(&self) -> impl Future<Output = Result<Vec<ParentHead>, Error>> + Send;

    /// Makes the context of the parent graph from that of the thread's graph.
    #[doc(hidden)]
    fn around(&self, context: &Arc<Self::Context>) -> Arc<Self::Around>;
}

/// Returns the head of a parent run if it has tasks that an earlier checkpoint has planned.
pub(super) fn kept_at(
    thread: &ErasedThread,
    head: Loaded,
    planned: CheckpointId,
) -> Result<Option<CheckpointId>, Error> {
    let Some(stored) = head.found else { return Ok(None) };
    let kept = planned_at(&thread.name, &stored.checkpoint).map_err(|kind| thread.graph.refuse(kind))?;
    Ok((kept == planned).then_some(stored.checkpoint.id))
}

impl<S: GraphState, D: Send + Sync + 'static> CallParent for Thread<S, D> {
    type State = S;
    type Around = D;
    type Root = S;
    type Context = D;

    fn thread(&self) -> &Self {
        self
    }

    fn graph(&self) -> Graph<S, D> {
        self.graph.clone()
    }

    fn namespaces(&self) -> Vec<Arc<str>> {
        vec![Arc::from("")]
    }

    async fn state_at(&self, checkpoint: CheckpointId) -> Result<Option<S>, Error> {
        Ok(load(self.erased(), Some(checkpoint)).await?.and_then(|snapshot| snapshot.state))
    }

    async fn parents_at(&self, checkpoint: CheckpointId) -> Result<BTreeMap<Arc<str>, CheckpointId>, Error> {
        Ok(BTreeMap::from([(Arc::from(""), checkpoint)]))
    }

    async fn kept_at(&self, planned_at: CheckpointId) -> Result<Option<CheckpointId>, Error> {
        let loaded = read(&self.erased(), None).await?;
        kept_at(&self.erased(), loaded, planned_at)
    }

    async fn levels(&self) -> Result<Vec<ParentHead>, Error> {
        let loaded = read(&self.erased(), None).await?;
        let none = || self.erased().graph.refuse(ErrorKind::NoThread { thread: self.name.to_string() });
        let (fence, origin) = (loaded.fence, loaded.origin);
        let stored = loaded.found.ok_or_else(none)?;
        Ok(vec![ParentHead { namespace: Arc::from(""), stored, fence, origin }])
    }

    fn around(&self, context: &Arc<D>) -> Arc<D> {
        Arc::clone(context)
    }
}
