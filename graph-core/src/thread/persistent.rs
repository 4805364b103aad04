use std::sync::Arc;

use crate::cache::Cache;
use crate::checkpoint::{Checkpointer, Page, Prune, Pruned, ThreadQuery, ThreadRecord};
use crate::engine::persist::Orphans;
use crate::error::{Error, ErrorKind};
use crate::graph::Graph;
use crate::state::GraphState;
use crate::store::IntoStore;

use super::Thread;

/// A graph whose runs are stored: it runs on threads, and only there.
///
/// Made by [`Graph::with_checkpointer`]; cheap to clone. It has no `run` of its own, so nothing is run past the store by
/// mistake; the graph itself is [`graph()`](Self::graph).
pub struct PersistentGraph<S: GraphState, D = ()>(pub(super) Arc<Persistent<S, D>>);

pub(super) struct Persistent<S: GraphState, D> {
    pub(super) graph: Graph<S, D>,
    pub(super) store: Arc<dyn Checkpointer>,
    pub(super) abandon_pending: bool,
    /// Runs of it that were dropped.
    pub(super) orphans: Orphans,
}

impl<S: GraphState, D> Clone for PersistentGraph<S, D> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: GraphState, D> std::fmt::Debug for PersistentGraph<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PersistentGraph").field(&self.0.graph).finish()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    /// The graph with a store: it runs on [threads](PersistentGraph::thread) from now on, and every superstep is stored.
    pub fn with_checkpointer(&self, store: impl Checkpointer) -> PersistentGraph<S, D> {
        let store: Arc<dyn Checkpointer> = Arc::new(store);
        let orphans = Orphans::default();
        PersistentGraph(Arc::new(Persistent { graph: self.clone(), store, abandon_pending: false, orphans }))
    }
}

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    /// The thread of this name. It comes into being with its first run; any text is a name.
    pub fn thread(&self, name: impl AsRef<str>) -> Thread<S, D> {
        Thread { graph: self.clone(), name: name.as_ref().into() }
    }

    /// Makes it the rule that new input gives up what is still planned on a thread, as a chat does when its user writes
    /// again; see [`abandon_pending`](crate::run::Run::abandon_pending).
    pub fn abandon_pending(self) -> Self {
        let Persistent { graph, store, orphans, .. } = &*self.0;
        let (graph, store, orphans) = (graph.clone(), Arc::clone(store), orphans.clone());
        Self(Arc::new(Persistent { graph, store, abandon_pending: true, orphans }))
    }

    /// The same with a long-term store for its nodes; see [`Graph::with_store`].
    pub fn with_store(self, store: impl IntoStore) -> Self {
        let Persistent { graph, store: checkpoints, abandon_pending, orphans } = &*self.0;
        let (graph, store, orphans) = (graph.with_store(store), Arc::clone(checkpoints), orphans.clone());
        Self(Arc::new(Persistent { graph, store, abandon_pending: *abandon_pending, orphans }))
    }

    /// The same with a cache for the results of its nodes; see [`Graph::with_cache`].
    pub fn with_cache(self, cache: impl Cache) -> Self {
        let Persistent { graph, store, abandon_pending, orphans } = &*self.0;
        let (graph, store, orphans) = (graph.with_cache(cache), Arc::clone(store), orphans.clone());
        Self(Arc::new(Persistent { graph, store, abandon_pending: *abandon_pending, orphans }))
    }

    /// The graph by itself, which stores nothing.
    pub fn graph(&self) -> &Graph<S, D> {
        &self.0.graph
    }

    /// The store.
    pub fn checkpointer(&self) -> &Arc<dyn Checkpointer> {
        &self.0.store
    }

    /// Lists threads by name, with where each stands. A thread that cannot be read is listed with the reason, next to the
    /// others.
    ///
    /// # Errors
    /// [`Store`](ErrorKind::Checkpoint).
    ///
    /// # Cancel safety
    /// It only reads.
    pub async fn threads(&self, query: ThreadQuery) -> Result<Page<ThreadRecord>, Error> {
        self.0.store.threads(query).await.map_err(|error| self.error(error))
    }

    /// Drops old checkpoints, also while threads run; what is left can be read as before.
    ///
    /// ```
    /// # use superstep::{END, GraphState, START, StateGraph};
    /// # use superstep::checkpoint::{MemoryCheckpointer, Prune};
    /// # #[derive(GraphState, Clone)] struct Count { total: u32 }
    /// # async fn add(count: &Count) -> CountUpdate { Count::update().total(count.total + 1) }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> superstep::Result<()> {
    /// # let graph = StateGraph::<Count>::new().edge(START, add).edge(add, END).compile()?;
    /// let graph = graph.with_checkpointer(MemoryCheckpointer::default());
    /// graph.thread("a").run(Count::input()).await?;
    /// let pruned = graph.prune(Prune { keep_last: Some(1), ..Prune::default() }).await?;
    /// assert_eq!(pruned.checkpoints, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Store`](ErrorKind::Checkpoint).
    ///
    /// # Cancel safety
    /// What has been dropped is dropped; nothing is half gone.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, Error> {
        self.0.store.prune(prune).await.map_err(|error| self.error(error))
    }

    pub(super) fn error(&self, error: crate::checkpoint::CheckpointError) -> Error {
        self.refuse(ErrorKind::store(Arc::new(error)))
    }

    pub(super) fn refuse(&self, kind: ErrorKind) -> Error {
        Error::new(self.0.graph.name(), kind)
    }
}
