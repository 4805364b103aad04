use std::sync::Arc;

use crate::cache::Cache;
use crate::checkpoint::{CheckpointError, Checkpointer, Page, Prune, Pruned, ThreadQuery, ThreadRecord};
use crate::engine::caught;
use crate::error::Error;
use crate::graph::Graph;
use crate::state::GraphState;
use crate::store::IntoStore;

use super::Thread;
use super::erased::Persistent;

/// A graph with a checkpointer. It runs only on threads, and every run is stored.
///
/// Made by [`Graph::with_checkpointer`]. Cloning is cheap. To run without the checkpointer, use [`graph()`](Self::graph).
pub struct PersistentGraph<S: GraphState, D = ()> {
    graph: Graph<S, D>,
    pub(crate) erased: Arc<Persistent>,
}

impl<S: GraphState, D> Clone for PersistentGraph<S, D> {
    fn clone(&self) -> Self {
        Self { graph: self.graph.clone(), erased: Arc::clone(&self.erased) }
    }
}

impl<S: GraphState, D> std::fmt::Debug for PersistentGraph<S, D> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PersistentGraph").field(&self.graph).finish()
    }
}

impl<S: GraphState, D: Send + Sync + 'static> Graph<S, D> {
    /// Adds a checkpointer: the returned graph runs on [threads](PersistentGraph::thread), and its supersteps are stored.
    pub fn with_checkpointer(&self, store: impl Checkpointer) -> PersistentGraph<S, D> {
        PersistentGraph { graph: self.clone(), erased: Persistent::new(self.erased(), Arc::new(store)) }
    }
}

impl<S: GraphState, D: Send + Sync + 'static> PersistentGraph<S, D> {
    /// Returns the thread with this name; any string is a name.
    ///
    /// The call does not access the checkpointer. A thread comes into being with its first run or update.
    pub fn thread(&self, name: impl AsRef<str>) -> Thread<S, D> {
        let (graph, persistent) = (self.graph.clone(), Arc::clone(&self.erased));
        Thread { graph, persistent, name: name.as_ref().into() }
    }

    /// Makes new input discard the pending tasks of a thread, for all runs of this graph.
    ///
    /// A chat needs this if its users write again before the last turn has finished. See
    /// [`Run::abandon_pending`](crate::run::Run::abandon_pending).
    pub fn abandon_pending(self) -> Self {
        let graph = self.graph.clone();
        self.with(graph, true)
    }

    /// Adds a long-term store for the nodes; see [`Graph::with_store`].
    pub fn with_store(self, store: impl IntoStore) -> Self {
        let graph = self.graph.with_store(store);
        self.with(graph, self.erased.abandon_pending)
    }

    /// Adds a cache for the results of the nodes; see [`Graph::with_cache`].
    pub fn with_cache(self, cache: impl Cache) -> Self {
        let graph = self.graph.with_cache(cache);
        self.with(graph, self.erased.abandon_pending)
    }

    /// Returns the graph without the checkpointer.
    pub fn graph(&self) -> &Graph<S, D> {
        &self.graph
    }

    /// Returns the checkpointer.
    pub fn checkpointer(&self) -> &Arc<dyn Checkpointer> {
        &self.erased.store
    }

    /// Lists threads by name, with the head of each.
    ///
    /// A thread that cannot be read is listed with the reason.
    ///
    /// # Errors
    /// [`Checkpoint`](crate::ErrorKind::Checkpoint), if the checkpointer fails.
    ///
    /// # Cancel safety
    /// Cancel safe: the call only reads.
    pub async fn threads(&self, query: ThreadQuery) -> Result<Page<ThreadRecord>, Error> {
        let listed = async { self.erased.store.threads(query).await.map_err(|error| self.error(error)) };
        caught(self.graph.name(), listed).await
    }

    /// Deletes old checkpoints. The remaining checkpoints stay readable, and threads may run at the same time.
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
    /// let pruned = graph.prune(Prune::new().keep_last(1)).await?;
    /// assert_eq!(pruned.checkpoints, 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Checkpoint`](crate::ErrorKind::Checkpoint), if the checkpointer fails.
    ///
    /// # Cancel safety
    /// A dropped call may have deleted some of the checkpoints. Each is deleted completely or not at all.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, Error> {
        let pruned = async { self.erased.store.prune(prune).await.map_err(|error| self.error(error)) };
        caught(self.graph.name(), pruned).await
    }

    /// Returns the graph with another long-term store, cache or default.
    fn with(&self, graph: Graph<S, D>, abandon_pending: bool) -> Self {
        let (store, abandoned) = (Arc::clone(&self.erased.store), self.erased.abandoned.clone());
        let erased = Persistent { graph: graph.erased(), store, abandon_pending, abandoned };
        Self { graph, erased: Arc::new(erased) }
    }

    fn error(&self, error: CheckpointError) -> Error {
        self.erased.error(error)
    }
}
